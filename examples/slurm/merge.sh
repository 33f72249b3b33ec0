#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Joins the parts: sbatch --dependency=afterok:ARRAY merge.sh WHOLE.h5 PART_*.h5 (quoted: the files need not exist yet)
whole=$1
shift
# shellcheck disable=SC2068  # the patterns are to be expanded now
exec nudge merge $@ --out "$whole"
