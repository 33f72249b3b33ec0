#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: out_of_tree_test.sh CMAKE BUILD SOURCE. Installs the build, makes the project in SOURCE against the installed package, and runs what
# it has added to nudge through nudge's own commands.
set -euo pipefail
cmake=$1 build=$(cd -- "$2" && pwd) source=$(cd -- "$3" && pwd)
dir=$(mktemp -d)
trap 'rm -rf -- "$dir"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
expect() { grep -qF -- "$2" "$1" || { cat -- "$1"; fail "$1 does not say: $2"; }; }

"$cmake" --install "$build" --prefix "$dir/nudge" >/dev/null
"$cmake" -S "$source" -B "$dir/build" -DCMAKE_PREFIX_PATH="$dir/nudge" -DCMAKE_BUILD_TYPE=Release >/dev/null
"$cmake" --build "$dir/build" >"$dir/build.log" 2>&1 || { cat "$dir/build.log"; fail "the project does not build"; }
if grep -rnE '#include "(examples|tests)/' "$source"; then fail "an include that is not installed"; fi
own=$dir/build/own
cd "$dir"
cp "$source/pendulum.toml" .

"$own" --help >help.txt
expect help.txt pendulum
"$own" pendulum >pendulum.txt
expect pendulum.txt "z = 0.5: F = -0.9794"
"$own" config check pendulum.toml >check.txt
"$own" devices list >devices.txt
expect devices.txt root_step
"$own" config keys >keys.txt
expect keys.txt '`pendulum.weight`'
if "$own" config check pendulum.toml --set pendulum.weigth=2 2>wrong.txt; then fail "a misspelt key of the program's own passes"; fi
expect wrong.txt "did you mean weight?"
# Its keys are its own: with another network, and those of others with it, they are refused.
if "$own" config check pendulum.toml --set network.kind=hopfield --set pendulum.weight=2 2>idle.txt; then fail "a key of the pendulum passes with another network"; fi
expect idle.txt "pendulum.weight = 2 (nothing reads it: network.kind = hopfield; pendulum would)"
if "$own" config check pendulum.toml --set hopfield.gain=2 2>idle.txt; then fail "a key of another network passes with the pendulum"; fi
expect idle.txt "hopfield.gain = 2 (nothing reads it: network.kind = pendulum; hopfield or convolutional would)"

# The gradient of the network, with its own force and by its own estimator, settled, against the exact adjoint and central differences.
for beta in 0.05 0.005; do
  "$own" gradcheck pendulum.toml --set precision=double --set beta=$beta --set relaxation.free_steps=300 --set relaxation.nudged_steps=300 --json >"$beta.json"
done
python3 - 0.05.json 0.005.json <<'PY' || fail "gradients"
import json, sys
large, small = ({row["estimator"]: row for row in json.load(open(name))["rows"] if row["group"] == "all"} for name in sys.argv[1:])
assert small["finite_difference"]["relative_l2"] < 1e-6, small["finite_difference"]
assert small["ep"]["cosine"] > 1 - 1e-6, small["ep"]
# A tenth of the nudge: one phase errs by O(beta), centered phases by O(beta^2); what settling leaves is below 1e-5.
ratio = {name: large[name]["relative_l2"] / small[name]["relative_l2"] for name in ("ep", "ep_one_phase")}
assert 8 < ratio["ep_one_phase"] < 12 and 50 < ratio["ep"] < 200, ratio
PY

# Its own cost, on its own network and on one of nudge's, against central differences.
for kind in pendulum hopfield; do
  "$own" gradcheck pendulum.toml --set network.kind=$kind --set network.cost=tolerant --set relaxation.free_steps=300 --set relaxation.nudged_steps=300 --json >"$kind.json"
done
python3 - pendulum.json hopfield.json <<'PY' || fail "gradients of its cost"
import json, sys
for name in sys.argv[1:]:
    rows = {row["estimator"]: row for row in json.load(open(name))["rows"] if row["group"] == "all"}
    assert rows["finite_difference"]["relative_l2"] < 1e-6, (name, rows["finite_difference"])
PY

# Trained on its own device: it learns more than frozen ones do, and its file is as any other.
"$own" train pendulum.toml --set train.steps=300 --set train.evaluate_every=300 --set device.model=root_step --out whole.h5 >whole.txt 2>&1
expect whole.txt "devices learnt"
"$own" info whole.h5 >info.txt
expect info.txt null/frozen_devices/train/validation_loss
"$own" report whole.h5 -o report.html >/dev/null
expect report.html pendulum
echo ok
