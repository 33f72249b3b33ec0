#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run by `make test`: every example config must be accepted by the program: check.sh PROGRAM
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." || exit 1
program=$1
passed=0
failed=0
for config in examples/*.toml; do
  [ -e "$config" ] || continue
  if "$program" config check "$config" >/dev/null; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "example $config was refused" >&2
  fi
done
echo "examples: $passed accepted, $failed refused"
[ "$failed" -eq 0 ]
