#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One training in as many jobs as it takes: sbatch -n 2 --time=4:00:00 train.sh CONFIG.toml RUN.h5
# Two minutes before its time is up the run is asked to save, and the job puts itself into the queue again; requeued by the
# system (preemption, a lost node, scontrol requeue) it resumes from the checkpoint. The bits are those of an unbroken run.
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=TERM@120
config=$1
file=$2
if [ -e "$file" ]; then
  srun --mpi=pmix nudge train --resume "$file"
else
  srun --mpi=pmix nudge train "$config" --out "$file"
fi
code=$?
[ $code -eq 0 ] || exit $code
case $(nudge watch "$file" --once --json) in
  *'"complete":true'*) ;;
  *) scontrol requeue "$SLURM_JOB_ID" ;;
esac
