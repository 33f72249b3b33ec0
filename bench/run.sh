#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark of a build folder, options after it go to google-benchmark: run.sh build/release [--benchmark_...]
set -euo pipefail
folder=$1/bench
shift
found=0
for program in "$folder"/nudge_bench*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  found=1
  "$program" "$@"
done
if [ "$found" -eq 0 ]; then echo "no benchmark in $folder" >&2; exit 1; fi
