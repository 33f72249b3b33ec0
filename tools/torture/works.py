# SPDX-License-Identifier: Apache-2.0
"""The runs that are killed: each a small config, how it is started and resumed, and what its file must hold by then.

Their numbers are chosen for many writes in little time: checkpoints every few steps, all kinds of state (damping control, growth
penalty, devices with noise, a second run beside).
"""
import dataclasses
import os
import re
import shutil
import subprocess

import processes

BLOCK = """threads = {threads}
estimator = "aep_transposed"
beta = 0.01
[model]
channels = 12
tokens = 8
memories = 16
heads = 2
[relaxation]
free_steps = 12
nudged_steps = 12
"""

DIGITAL = "seed = 3\n" + BLOCK.format(threads=1) + """[train]
steps = 15
batch = 4
warmup = 4
evaluate_every = 6
checkpoint_every = 3
evaluation_batches = 1
test_batches = 1
beside = "bptt"
[output]
print_every = 1
"""

DEVICES = "seed = 3\n" + BLOCK.format(threads=2).replace("0.01", "0.1") + """average_free = 4
average_nudged = 4
[growth]
probe = 0.1
[device]
model = "soft_bounds"
g_min = "1 uS"
g_max = "25 uS"
pulses = 2000
programming_error = "1 %"
read_noise = "0.3 %"
[train]
steps = 6
batch = 4
warmup = 4
evaluate_every = 5
checkpoint_every = 1
evaluation_batches = 1
test_batches = 1
[output]
print_every = 1
"""

SWEEP = BLOCK.format(threads=2) + """[train]
steps = 4
batch = 2
warmup = 2
evaluate_every = 0
evaluation_batches = 1
[sweep]
seeds = [1, 2, 3]
[sweep.grid]
"train.optimizer" = ["adam", "sgd"]
"train.learning_rate" = [1e-3, 1e-2]
"""

COMPARE = BLOCK.format(threads=1) + """[train]
steps = 4
batch = 2
warmup = 2
evaluate_every = 0
evaluation_batches = 1
test_batches = 2
[compare]
entrants = ["bptt", "aep_transposed"]
tuning_seeds = [1]
test_seeds = [3, 4]
[compare.grid]
"train.learning_rate" = [1e-3, 1e-2]
"""

TAPE = """seed = 1
threads = 1
[network]
kind = "argmax_read"
[task]
kind = "argmax"
[model]
channels = 16
tokens = 12
heads = 2
[train]
steps = 30
batch = 5
evaluate_every = 10
checkpoint_every = 5
learning_rate = 1e-2
warmup = 0
[output]
print_every = 1
"""

CONFIGS = {"digital.toml": DIGITAL, "devices.toml": DEVICES, "sweep.toml": SWEEP, "compare.toml": COMPARE,
           "tape.toml": TAPE}


@dataclasses.dataclass(frozen=True)
class Work:
    """One kind of run. {out} in the arguments stands for its file."""
    name: str
    start: tuple          # arguments of nudge when there is no file yet
    resume: tuple         # and when there is one; empty: a run that leaves a file has ended
    ranks: int = 0        # of mpirun; 0: without
    checkpoint_every: int = 0  # of training: a line "step n" promises the checkpoint of the last such step
    parts: int = 0        # shards that are made beforehand

    def promised(self, log):
        """Steps that the file must hold, by what the run had printed."""
        if not self.checkpoint_every:
            return 0
        lines = log.splitlines(keepends=True)
        steps = [int(m[1]) for line in lines if line.endswith("\n") and (m := re.match(r"step +(\d+)/", line))]
        return steps[-1] // self.checkpoint_every * self.checkpoint_every if steps else 0

    def command(self, nudge, resumed):
        launcher = ["mpirun", "-n", str(self.ranks)] if self.ranks else []
        return launcher + [nudge] + list(self.resume if resumed else self.start)


def study(name, kind, ranks=0):
    return Work(name, (kind, f"{kind}.toml", "--out", "out.h5"), (kind, f"{kind}.toml", "--resume", "out.h5"), ranks)


def training(name, config, every, ranks=0):
    return Work(name, ("train", config, "--out", "out.h5"), ("train", "--resume", "out.h5"), ranks, every)


WORKS = [
    training("train", "digital.toml", 3),
    training("train on devices", "devices.toml", 1),
    study("sweep", "sweep"),
    study("compare", "compare"),
    training("train, no circuit", "tape.toml", 5),
    Work("merge", ("merge", "part1.h5", "part2.h5", "part3.h5", "--out", "out.h5"), (), parts=3),
    study("mpirun -n 3 sweep", "sweep", 3),
    training("mpirun -n 2 train", "digital.toml", 3, 2),
]


def has_ranks(nudge):
    """Whether mpirun is there and the program was built with MPI."""
    if shutil.which("mpirun") is None:
        return False
    done = subprocess.run(["mpirun", "-n", "2", nudge, "sweep", "no-such-config.toml"],
                          env=dict(os.environ, **processes.MPI), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    return "without MPI" not in done.stderr
