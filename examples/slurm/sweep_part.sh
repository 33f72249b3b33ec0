#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One part of a sweep, without MPI: sbatch --array=1-8 sweep_part.sh CONFIG.toml PART
# writes PART_1.h5 ... PART_8.h5. The array is to count from 1. Started again, or requeued, a part goes on where it was.
#SBATCH --requeue
#SBATCH --open-mode=append
config=$1
file=$2_$SLURM_ARRAY_TASK_ID.h5
part=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
if [ -e "$file" ]; then
  exec nudge sweep "$config" --resume "$file" --shard "$part"
else
  exec nudge sweep "$config" --out "$file" --shard "$part"
fi
