#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job, run by `make demo`: demo.sh PROGRAM
set -euo pipefail
"$1" --help
