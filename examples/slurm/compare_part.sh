#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One part of a comparison, without MPI. The tuning: sbatch --array=1-8 compare_part.sh CONFIG.toml tune
# and, when merge.sh has joined tune_*.h5 into TUNED.h5, the test runs: sbatch --array=1-8 compare_part.sh CONFIG.toml test TUNED.h5
#SBATCH --requeue
#SBATCH --open-mode=append
config=$1
file=$2_$SLURM_ARRAY_TASK_ID.h5
tuned=${3:-}
part=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
if [ ! -e "$file" ] && [ -n "$tuned" ]; then
  cp -- "$tuned" "$file.new" && mv -- "$file.new" "$file" || exit 1
fi
if [ -e "$file" ]; then
  exec nudge compare "$config" --resume "$file" --shard "$part"
else
  exec nudge compare "$config" --out "$file" --shard "$part"
fi
