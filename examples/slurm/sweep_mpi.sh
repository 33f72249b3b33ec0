#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sweep as a task farm over the ranks of one job: sbatch -n 16 sweep_mpi.sh CONFIG.toml SWEEP.h5
# Started again, or requeued, it goes on with the points that are left.
#SBATCH --requeue
#SBATCH --open-mode=append
config=$1
file=$2
if [ -e "$file" ]; then
  srun --mpi=pmix nudge sweep "$config" --resume "$file"
else
  srun --mpi=pmix nudge sweep "$config" --out "$file"
fi
