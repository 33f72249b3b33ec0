#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job, run by `make demo`: trains a character model by equilibrium propagation on virtual crossbars beside backprop on
# exact weights, compares its gradients, and writes a report: demo.sh PROGRAM [FOLDER]
set -euo pipefail
program=$(realpath -- "$1")
folder=${2:-build/demo}
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
mkdir -p -- "$folder"
rm -f -- "$folder/train.h5" "$folder/report.html"

echo "== training by equilibrium propagation on virtual crossbars, beside backprop (examples/train_charlm.toml)"
"$program" train examples/train_charlm.toml --out "$folder/train.h5"
echo
echo "== what the file holds"
"$program" info "$folder/train.h5" | sed -n '1,/^datasets/p'
"$program" report "$folder/train.h5" -o "$folder/report.html"
echo "open $folder/report.html in a browser"
