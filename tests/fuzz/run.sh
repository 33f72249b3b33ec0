#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the libFuzzer targets of a build with NUDGE_FUZZ for so many seconds each (default 60), or RUNS executions each where these
# are done sooner; ends at the first finding.
#   bash tests/fuzz/run.sh build/fuzz 600 [config contents csv netlist run_file samples spec tables]
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
build=$1
seconds=${2:-60}
shift $(($# < 2 ? $# : 2))
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then targets=(config contents csv netlist run_file samples spec tables); fi

work=$build/fuzzing
mkdir -p "$work"
# Short stacks, a small quarantine and stacks that are left as they are for speed: what is found is looked at by replaying it.
export ASAN_OPTIONS=allocator_may_return_null=1:malloc_context_size=3:quarantine_size_mb=8:detect_stack_use_after_return=0
export LSAN_OPTIONS="suppressions=$PWD/cmake/lsan_suppressions.txt:print_suppressions=0"
# Every key and value of the program is a word that the fuzzer may insert.
grep -ohE '^[a-z_.0-9]+ = ("[^"]*"|[^ #]+)' examples/*.toml | sort -u | sed 's/["\\]/\\&/g; s/^/"/; s/$/"/' >"$work/config.dict"

for target in "${targets[@]}"; do
  new=$work/$target
  mkdir -p "$new"
  seeds=("tests/fuzz/corpus/$target")
  options=(-max_len=4096 -timeout=20 -rss_limit_mb=3000 -entropic=0 -use_cmp=0)  # these two cost more time than they find
  if [ "$target" = config ] || [ "$target" = spec ]; then options+=("-dict=$work/config.dict"); fi
  if [ "$target" = config ]; then seeds+=(examples); fi
  if [ "$target" = netlist ]; then
    seeds+=(tests/circuits/netlists)
    options+=(-max_len=1024)  # 592 inputs a second where 4096 bytes have 450
  fi
  if [ "$target" = run_file ]; then options=(-max_len=65536 -timeout=60 -rss_limit_mb=3000); fi
  if [ "$target" = contents ] || [ "$target" = spec ]; then options+=(-max_len=256); fi
  echo "== $target"
  "$build/tests/fuzz/nudge_fuzz_$target" "${options[@]}" -runs="${RUNS:--1}" -max_total_time="$seconds" -print_final_stats=1 \
    -artifact_prefix="$work/found-$target-" "$new" "${seeds[@]}" 2>"$work/$target.log" || {
    tail -n 60 "$work/$target.log"
    exit 1
  }
  grep -E 'number_of_executed_units|average_exec|peak_rss' "$work/$target.log"
done
