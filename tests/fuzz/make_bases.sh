#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the files that the targets `contents` and `run_file` edit: small ones of every kind that a command writes and another reads.
#   bash tests/fuzz/make_bases.sh build/release/apps/nudge
set -euo pipefail
nudge=$(realpath -- "$1")
out=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")")/bases
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
mkdir -p "$out"
cd -- "$work"

block='threads = 1
estimator = "aep_transposed"
[model]
channels = 4
tokens = 4
memories = 4
heads = 2
[relaxation]
free_steps = 4
nudged_steps = 4
'
training='[train]
steps = 2
batch = 2
warmup = 1
evaluate_every = 1
evaluation_batches = 1
test_batches = 1
'
device='[device]
model = "soft_bounds"
g_min = "1 uS"
g_max = "25 uS"
pulses = 200
programming_error = "1 %"
read_noise = "0.3 %"
'
printf '%s%s%sbeside = "bptt"\ncosine_every = 1\n' "$block" "$device" "$training" >train.toml
printf '%s%s' "$block" "$device" >devices.toml
printf '%s' "$block" >gradcheck.toml
printf '%s%s' "$block" "$training" | sed 's/evaluate_every = 1/evaluate_every = 0/' >small.toml
{ cat small.toml; printf '[sweep]\nseeds = [1, 2]\n[sweep.grid]\n"train.learning_rate" = [1e-3, 1e-2]\n'; } >sweep.toml
{ cat small.toml; printf '[compare]\nentrants = ["bptt", "aep_transposed"]\ntuning_seeds = [1]\ntest_seeds = [3]\n'
  printf '[compare.grid]\n"train.learning_rate" = [1e-3, 1e-2]\n'; } >compare.toml
printf '[network]\nkind = "free_transformer"\n[model]\nchannels = 4\ntokens = 4\nheads = 2\n[latent]\nbits = 2\n%s' "$training" >tape.toml

rm -f "$out"/{train,gradcheck,sweep,sweep_shard,compare,tape,device,crossbar}.h5  # case.h5 is no run's
"$nudge" train train.toml --out "$out/train.h5"
"$nudge" gradcheck gradcheck.toml --out "$out/gradcheck.h5"
"$nudge" sweep sweep.toml --out "$out/sweep.h5"
"$nudge" sweep sweep.toml --shard 1/2 --out "$out/sweep_shard.h5"
"$nudge" compare compare.toml --out "$out/compare.h5"
"$nudge" train tape.toml --out "$out/tape.h5"
"$nudge" devices characterize taox_hfox --devices 3 --out "$out/device.h5"
"$nudge" crossbar devices.toml --out "$out/crossbar.h5"
ls -l "$out"
