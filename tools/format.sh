#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats all C++ files in place; with "--dry-run -Werror" only says which ones differ, and fails if any does.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
if [ "$#" -eq 0 ]; then set -- -i; fi
find sim devices netlist circuits mixers training reference apps tests bench examples \( -name '*.hpp' -o -name '*.cpp' \) -print0 |
  xargs -0 clang-format-14 "$@"
