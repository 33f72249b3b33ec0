#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recipes of docs/how_to/run_on_a_cluster.md on a real Slurm: slurm_test.sh PROGRAM starts slurmctld and slurmd of its own for one node, on free
# ports of this machine and with everything in a temporary folder, and submits examples/slurm/*.sh. Every file that comes out of it
# must be that of one process, bit by bit. Needs no root and no installed configuration of Slurm (its plugins auth/none and
# cred/none stand for munge).
set -uo pipefail
program=$(realpath -- "$1")
root=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../..")
recipes=$root/examples/slurm
PATH=$PATH:/usr/sbin:/sbin

skip() { echo "SKIPPED: $*" && exit 0; }
for needed in slurmctld slurmd srun sbatch; do
  command -v $needed >/dev/null || skip "$needed is not installed (Debian: slurmctld, slurmd, slurm-client)"
done
python3 -c 'import h5py' 2>/dev/null || skip "python3-h5py is not installed"

folder=$(mktemp -d) || exit 1
daemons=()
finish() {
  [ ${#daemons[@]} -eq 0 ] || { kill "${daemons[@]}" && wait "${daemons[@]}"; } 2>/dev/null
  rm -rf -- "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP
cd -- "$folder" || exit 1

### The cluster
read -r port_1 port_2 < <(python3 -c 'import socket
sockets = [socket.socket() for _ in range(2)]
for one in sockets: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))')
node=$(hostname -s)
user=$(id -un)
export SLURM_CONF=$folder/slurm.conf
mkdir state spool bin
cat >"$SLURM_CONF" <<END
ClusterName=nudge_test
SlurmctldHost=$node(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port_1
SlurmdPort=$port_2
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=2
ReturnToService=2
KillWait=60
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
NodeName=$node NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=test Nodes=$node Default=YES MaxTime=INFINITE State=UP
END
slurmctld -D >ctld.out 2>&1 &
daemons+=($!)
slurmd -D -N "$node" >slurmd.out 2>&1 &
daemons+=($!)

# within SECONDS COMMAND...: until it succeeds
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.2
  done
}
node_is_idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
within 60 node_is_idle || skip "the daemons of Slurm do not start here: $(tail -n 2 ctld.out slurmd.out ./*.log 2>&1)"

### The work
ln -s "$program" bin/nudge
export PATH=$folder/bin:$PATH
# As root, and with more ranks than this machine has cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_hwloc_base_binding_policy=none
block='threads = 1
estimator = "aep_transposed"
beta = 0.01
[model]
channels = 8
tokens = 6
memories = 12
heads = 2
[relaxation]
free_steps = 12
nudged_steps = 12
[train]
batch = 4
warmup = 2
evaluate_every = 0
evaluation_batches = 1
test_batches = 2
'
echo "$block
steps = 20
[sweep]
seeds = [1, 2]
[sweep.grid]
'model.heads' = [1, 2]
'train.learning_rate' = [1e-3, 1e-2]" >sweep.toml
echo "$block
steps = 6
[compare]
entrants = ['bptt', 'aep_transposed']
tuning_seeds = [1]
test_seeds = [3, 4]
[compare.grid]
'train.learning_rate' = [1e-6, 1e-2]" >compare.toml
echo "$block
steps = 600
checkpoint_every = 20
[output]
print_every = 1" >train.toml
nudge sweep sweep.toml --out sweep.h5 >/dev/null 2>&1 || exit 1
nudge compare compare.toml --out compare.h5 >/dev/null 2>&1 || exit 1
nudge train train.toml --out train.h5 >/dev/null 2>&1 || exit 1

failed=0
started=$SECONDS
passed() { echo "$1: $((SECONDS - started)) s" && started=$SECONDS; }
fail() { # what is wrong, files to show
  echo "FAILED: $1"
  shift
  tail -n 5 "$@" 2>&1
  failed=1
}
# same A.h5 B.h5 NAME: counts the file as passed when nothing but times differs
same() {
  local differ
  differ=$(PYTHONPATH=$root/tools/torture python3 -c 'import sys, run_files
print(*run_files.differences(*sys.argv[1:]))' "$1" "$2" 2>&1)
  if [ -z "$differ" ]; then passed "$3"; else fail "$3: $1 and $2 differ in: $differ" slurm-*.out; fi
}
is_gone() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
ended() { within 240 is_gone "$1" || { fail "job $1 does not end" slurm-*.out ./*.log && scancel "$1"; }; }
state() { scontrol show job -o "$1" | tr ' ' '\n' | sed -n 's/^JobState=//p' | sort -u; }
completed() { # JOB: waits, and expects it to have ended well
  ended "$1"
  [ "$(state "$1")" = COMPLETED ] || fail "job $1 is $(state "$1" | tr '\n' ' ')" slurm-*.out
}

### One sweep over ranks: srun, and mpirun in a batch job
numbers_of_ranks="1 2"
probe=$(srun --mpi=pmix -n 2 nudge sweep no_such.toml 2>&1)
if [[ $probe == *no_such.toml* ]]; then
  srun --mpi=pmix -n 3 nudge sweep sweep.toml --out srun.h5 >srun.out 2>&1 || fail "srun" srun.out
  same sweep.h5 srun.h5 "srun --mpi=pmix -n 3 nudge sweep"
  completed "$(sbatch --parsable -n 3 "$recipes/sweep_mpi.sh" sweep.toml batch.h5)"
  same sweep.h5 batch.h5 "sbatch -n 3 sweep_mpi.sh"
  completed "$(sbatch --parsable -n 3 --wrap 'mpirun nudge sweep sweep.toml --out mpirun.h5')"
  same sweep.h5 mpirun.h5 "sbatch -n 3, mpirun"
else
  echo "without several ranks: this Slurm has no PMIx, or this nudge no MPI: $probe"
  numbers_of_ranks=1
fi

### A job array, and the job that joins its files
array=$(sbatch --parsable --array=1-3 "$recipes/sweep_part.sh" sweep.toml part)
completed "$(sbatch --parsable --dependency=afterok:"$array" --kill-on-invalid-dep=yes "$recipes/merge.sh" merged.h5 'part_*.h5')"
same sweep.h5 merged.h5 "sbatch --array=1-3 sweep_part.sh, merge.sh"

### A comparison: arrays for the tuning and for the test runs, each behind the job before it
after() { echo "--dependency=afterok:$1 --kill-on-invalid-dep=yes"; }
tune=$(sbatch --parsable --array=1-2 "$recipes/compare_part.sh" compare.toml tune)
# shellcheck disable=SC2046  # two options
tuned=$(sbatch --parsable $(after "$tune") "$recipes/merge.sh" tuned.h5 'tune_*.h5')
# shellcheck disable=SC2046
tests=$(sbatch --parsable --array=1-3 $(after "$tuned") "$recipes/compare_part.sh" compare.toml test tuned.h5)
# shellcheck disable=SC2046
completed "$(sbatch --parsable $(after "$tests") "$recipes/merge.sh" compared.h5 'test_*.h5')"
same compare.h5 compared.h5 "compare in two arrays, merge.sh"

### A training that is stopped in every way there is
# Slurm lets a requeued job wait until its old credential has expired (cred_expire above); started before, it fails.
steps_done() { nudge watch "$1" --once --json 2>/dev/null | sed -n 's/.*"done":\([0-9]*\).*/\1/p'; }
beyond() { local now && now=$(steps_done "$1") && [ "${now:-0}" -gt "$2" ]; }
under_way() { # FILE STEPS: waits for a checkpoint beyond those
  within 120 beyond "$1" "$2" || fail "$1 does not get beyond $2 steps" slurm-*.out
}
stopped_in_time() { # FILE NAME: it must not have ended yet, or nothing was tried
  local now && now=$(steps_done "$1")
  [ "${now:-600}" -lt 600 ] || fail "$2: the run had ended before it was stopped"
}
for ranks in $numbers_of_ranks; do
  run=run_$ranks.h5
  job=$(sbatch --parsable -n $ranks "$recipes/train.sh" train.toml $run)
  under_way $run 0
  scontrol requeue "$job"
  is_pending() { [ "$(state "$job")" = PENDING ]; }
  within 90 is_pending || fail "job $job is not in the queue again" slurm-"$job".out
  stopped_in_time $run "requeue"
  before=$(steps_done $run)
  grep -q interrupted slurm-"$job".out || fail "requeued: the run did not save" slurm-"$job".out
  passed "$ranks ranks: requeued at step $before"
  under_way $run "$before"
  scancel --signal=TERM "$job" # what --signal=TERM@120 does when the time is nearly up: the job requeues itself
  within 90 is_pending || fail "job $job has not requeued itself" slurm-"$job".out
  stopped_in_time $run "SIGTERM to the steps"
  before=$(steps_done $run)
  passed "$ranks ranks: its time nearly up at step $before"
  under_way $run "$before"
  scancel "$job"
  ended "$job"
  [ "$(state "$job")" = CANCELLED ] || fail "job $job is $(state "$job")" slurm-"$job".out
  stopped_in_time $run "scancel"
  passed "$ranks ranks: cancelled at step $(steps_done $run)"
  completed "$(sbatch --parsable -n $ranks "$recipes/train.sh" train.toml $run)"
  same train.h5 $run "$ranks ranks: submitted again and ended"
done
exit $failed
