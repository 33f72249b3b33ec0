# SPDX-License-Identifier: Apache-2.0
"""Sends SIGINT and SIGTERM to every command at random moments of its life: it must end within two seconds, what it has is saved and goes
on to the bits of an unharmed run, and what has nothing to save leaves no file.

    python3 tools/torture/interrupts.py --nudge build/release/apps/nudge --signals 400 --seed 1
"""
import argparse
import dataclasses
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from processes import Run, has_h5py
from works import CONFIGS

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGINT, signal.SIGTERM)
PROMISE = 2.0  # seconds between the signal and the end
UNHURRIED = 0.15  # seconds that `nudge --version` takes on a machine at rest, at most; a busier one has that much more time

SAMPLES = """seed = 1
estimator = "ep_contrastive"
beta = 0.25
threads = 1
[network]
kind = "hopfield"
[task]
kind = "classification"
[data]
file = "samples.csv"
validation_fraction = 0.1
test_fraction = 0.2
[hopfield]
hidden = [32]
form = "projected"
[relaxation]
schedule = "sweep"
step = 1.0
free_steps = 10
nudged_steps = 6
[train]
steps = 20
batch = 16
evaluate_every = 10
checkpoint_every = 5
[output]
print_every = 1
"""

LONG_STEP = """seed = 1
threads = 1
estimator = "aep_transposed"
beta = 0.01
[model]
channels = 96
tokens = 64
memories = 384
heads = 4
[relaxation]
free_steps = 60
nudged_steps = 60
[train]
steps = 3
batch = 8
warmup = 1
checkpoint_every = 1
evaluation_batches = 1
test_batches = 1
[output]
print_every = 1
"""

WIRES = """[device]
model = "soft_bounds"
g_min = "1 uS"
g_max = "25 uS"
[crossbar]
row_resistance = "2 Ohm"
column_resistance = "2 Ohm"
[model]
channels = 64
tokens = 8
memories = 256
heads = 4
"""


@dataclasses.dataclass(frozen=True)
class Command:
    """What is interrupted. {0} in the arguments stands for a file of the folder that all share."""
    name: str
    arguments: tuple
    resume: tuple = ()     # of a command that saves: continues out.h5
    before: tuple = ()     # commands that make what it needs, once for all


TRAIN = ("train", "samples.toml", "--out", "out.h5")
RESUME = ("train", "--resume", "out.h5")
HALF = (("train", "samples.toml", "--out", "half.h5", "--set", "train.steps=20"),)
PARTS = tuple(("sweep", "sweep.toml", "--shard", f"{p}/2", "--out", f"p{p}.h5") for p in (1, 2))


def study(kind):
    return Command(kind, (kind, f"{kind}.toml", "--out", "out.h5"), (kind, f"{kind}.toml", "--resume", "out.h5"))


COMMANDS = [
    Command("train: reading, steps, references", TRAIN, RESUME),
    Command("train: long steps", ("train", "long.toml", "--out", "out.h5"), RESUME),
    Command("train on devices", ("train", "devices.toml", "--out", "out.h5"), RESUME),
    Command("train beside", ("train", "digital.toml", "--out", "out.h5"), RESUME),
    study("sweep"),
    Command("sweep of samples", ("sweep", "grid.toml", "--out", "out.h5"),
            ("sweep", "grid.toml", "--resume", "out.h5")),
    Command("sweep --dry-run", ("sweep", "grid.toml", "--dry-run")),
    study("compare"),
    Command("train, no circuit", ("train", "tape.toml", "--out", "out.h5"), RESUME),
    Command("gradcheck", ("gradcheck", "long.toml", "--set", "train.batch=1", "--set", "model.tokens=16", "--out", "out.h5")),
    Command("crossbar, wires", ("crossbar", "wires.toml", "--out", "out.h5")),
    Command("devices characterize", ("devices", "characterize", "pcm", "--out", "out.h5")),
    Command("devices fit", ("devices", "fit", "{0}/pulses.csv", "--out", "out.toml")),
    Command("case", ("case", "{0}/case.h5", "--out", "out.h5")),
    Command("test", ("test", "{0}/half.h5", "--set", "device.model=ideal", "--seeds", "20"), before=HALF),
    Command("report", ("report", "{0}/half.h5", "-o", "out.html"), before=HALF),
    Command("export", ("export", "{0}/half.h5", "--csv", "csv"), before=HALF),
    Command("info", ("info", "{0}/half.h5"), before=HALF),
    Command("watch", ("watch", "{0}/half.h5", "--every", "0.3"), before=HALF),
    Command("merge", ("merge", "{0}/p1.h5", "{0}/p2.h5", "--out", "out.h5"), before=PARTS),
    Command("config check", ("config", "check", "long.toml")),
]


@dataclasses.dataclass
class Tally:
    name: str
    life: float = 0
    sent: int = 0
    saved: int = 0      # and went on to the same bits
    at_once: int = 0    # nothing to save
    too_late: int = 0   # it had ended
    slowest: float = 0
    problems: list = dataclasses.field(default_factory=list)

    def line(self):
        return (f"{self.name}: {self.life:.2f} s, {self.sent} signals, {self.saved} saved, {self.at_once} with nothing to save, "
                f"{self.too_late} at its end, slowest end {self.slowest:.2f} s, {len(self.problems)} problems")


def write_inputs(folder):
    folder.mkdir(parents=True, exist_ok=True)
    grid = SAMPLES.replace("steps = 20", "steps = 4") + '[sweep]\nseeds = [1, 2]\n[sweep.grid]\n"train.learning_rate" = [1e-3, 1e-2]\n'
    texts = dict(CONFIGS, **{"samples.toml": SAMPLES, "long.toml": LONG_STEP, "wires.toml": WIRES, "grid.toml": grid})
    for name, text in texts.items():
        (folder / name).write_text(text)


def write_data(folder):
    """Samples of ten classes in 200 features, enough that reading them and fitting the linear model take a while; pulses to fit."""
    draw = random.Random(7)
    with open(folder / "samples.csv", "w", encoding="ascii") as file:
        file.write("label," + ",".join(f"f{i}" for i in range(200)) + "\n")
        for i in range(6000):
            file.write(f"{i % 10}," + ",".join(f"{draw.gauss(0.1 * (i % 10 == f % 10), 1):.3f}" for f in range(200)) + "\n")
    with open(folder / "pulses.csv", "w", encoding="ascii") as file:
        file.write("device,pulse,conductance,direction\n")
        for device in range(40):
            g = 1e-6
            for pulse in range(400):
                up = pulse < 200
                g += (25e-6 - g) * 0.01 if up else -(g - 1e-6) * 0.01
                file.write(f"{device},{pulse},{g * (1 + 0.01 * draw.gauss(0, 1)):.6e},{'up' if up else 'down'}\n")


class Bench:
    """The folder that all commands share, and the program."""

    def __init__(self, nudge, folder):
        self.nudge, self.folder = nudge, pathlib.Path(folder)
        os.environ["NUDGE_CACHE"] = "off"  # the references are fitted each time
        self.shared = self.folder / "shared"
        write_inputs(self.shared)
        write_data(self.shared)
        cases = [case for place in (ROOT, ROOT.parent) for case in sorted((place / "shared/cases").glob("eqblock_*.h5"))]
        if cases:
            (self.shared / "case.h5").symlink_to(cases[0].resolve())
        start = time.monotonic()
        for _ in range(5):
            self.done(["--version"], self.shared)
        self.patience = PROMISE * max(1.0, (time.monotonic() - start) / 5 / UNHURRIED)

    def can(self, command):
        return all((self.shared / a[4:]).exists() for a in command.arguments
                   if a.startswith("{0}/") and not command.before)

    def start(self, arguments, place):
        return Run([self.nudge] + [a.format(self.shared) for a in arguments], place)

    def done(self, arguments, place):
        run = self.start(arguments, place)
        if not run.wait_for_end(300) or run.process.returncode != 0:
            raise SystemExit(f"nudge {' '.join(arguments)}: exit {run.process.returncode}, unharmed\n{run.log()}")

    def place(self, name):
        place = pathlib.Path(tempfile.mkdtemp(prefix=name, dir=self.folder))
        write_inputs(place)
        (place / "samples.csv").symlink_to(self.shared / "samples.csv")
        return place


def outputs(place, before):
    return sorted(str(p.relative_to(place)) for p in place.rglob("*") if p.name != "log.txt" and p not in before and p.is_file())


def are_whole(place, left, unharmed):
    """All that the unharmed run left, and the same: it was at its end; or nothing."""
    import run_files
    same = [(place / n).read_bytes() == (unharmed / n).read_bytes() if not n.endswith(".h5") else
            not run_files.differences(unharmed / n, place / n) for n in left if (unharmed / n).exists()]
    return not left or (all(same) and len(same) == len(left))


def interrupted(bench, command, life, unharmed, draw, tally):
    """One run, one signal."""
    import run_files
    place = bench.place("run")
    before = set(place.rglob("*"))
    sent = draw.choice(SIGNALS)
    moment = draw.uniform(0, life)
    run = bench.start(command.arguments, place)
    try:
        run.process.wait(timeout=moment)
        tally.too_late += 1
        return
    except subprocess.TimeoutExpired:  # it runs
        pass
    start = time.monotonic()
    run.process.send_signal(sent)
    in_time = run.wait_for_end(max(60, bench.patience))
    took = time.monotonic() - start
    tally.sent += 1
    tally.slowest = max(tally.slowest, took)
    log = run.log()
    phase = f"{sent.name} after {moment:.3f} of {life:.3f} s, behind \"{(log.strip().splitlines() or ['nothing'])[-1][:90]}\""

    def fail(text):
        tally.problems.append(f"{command.name}: {text} ({phase})")

    if not in_time or took > bench.patience:
        fail(f"ended after {took:.2f} s and not within {bench.patience:.2f} s")
    code, left = run.process.returncode, outputs(place, before)
    hidden = [name for name in left if pathlib.Path(name).name.startswith(".")]
    if hidden:
        fail(f"left {hidden}")
    if code == -sent:
        tally.at_once += 1
        if "nudge: interrupted" not in log and log.strip():  # silent only where main() had not begun
            fail("does not say that it was interrupted")
        if not command.resume and not are_whole(place, left, unharmed.parent):
            fail(f"ended by the signal and left {left}")
    elif code != 0:
        fail(f"exit {code}")
    elif "continue with" in log:
        tally.saved += 1
    if not command.resume:
        return
    if (place / "out.h5").exists():
        bench.done(command.resume, place)
        changed = run_files.differences(unharmed, place / "out.h5")
        if changed:
            fail(f"resumed to other bits: {', '.join(changed[:5])}")
    elif code == 0:
        fail("saved nothing")


def torture(bench, command, signals, deadline, seed):
    draw = random.Random(f"{seed} {command.name}")
    tally = Tally(command.name)
    for made in command.before:
        if not (bench.shared / made[made.index("--out") + 1]).exists():
            bench.done(made, bench.shared)
    place = bench.place("unharmed")
    start = time.monotonic()
    bench.done(command.arguments, place)
    tally.life = time.monotonic() - start
    unharmed = place / "out.h5"
    for sent in range(signals):
        if sent > 0 and time.monotonic() > deadline:
            break
        interrupted(bench, command, tally.life, unharmed, draw, tally)
        for old in bench.folder.glob("run*"):
            shutil.rmtree(old)
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nudge", default=str(ROOT / "build/release/apps/nudge"), help="the program")
    parser.add_argument("--signals", type=int, default=400, help="over all commands")
    parser.add_argument("--seconds", type=float, default=3600, help="no new signal after so long")
    parser.add_argument("--seed", type=int, default=None, help="of the moments; default: the clock")
    parser.add_argument("--only", default="", help="only commands whose name contains this text")
    parser.add_argument("--folder", default="/dev/shm" if os.access("/dev/shm", os.W_OK) else None, help="where they run")
    options = parser.parse_args()
    if not has_h5py():
        return 0
    seed = options.seed if options.seed is not None else time.time_ns() % 2**31
    problems = []
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ni", dir=options.folder) as folder:
        bench = Bench(str(pathlib.Path(options.nudge).resolve()), folder)
        chosen = [c for c in COMMANDS if options.only in c.name and bench.can(c)]
        print(f"seed {seed}; within {bench.patience:.2f} s", flush=True)
        for number, command in enumerate(chosen):
            now = time.monotonic()
            deadline = now + (start + options.seconds - now) / (len(chosen) - number)
            tally = torture(bench, command, -(-options.signals // len(chosen)), deadline, seed)
            print(tally.line(), flush=True)
            problems += tally.problems
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
