# SPDX-License-Identifier: Apache-2.0
"""Random SIGKILLs: chains of runs of which each is killed and resumed until one ends, whose file must be that of an unharmed run."""
import dataclasses
import hashlib
import pathlib
import shutil
import statistics
import time

import run_files
from processes import Run, kill
from works import CONFIGS

GRACE = 60  # seconds in which an unharmed run ends, and what mpirun started after a kill: far more than both take


@dataclasses.dataclass
class Tally:
    """What happened to one kind of work."""
    name: str
    seconds: float = 0    # an unharmed run takes
    kills: int = 0
    resumed: int = 0      # of them, while it resumed
    one_rank: int = 0     # of them, to one process of mpirun's
    chains: int = 0       # that ended
    lost: int = 0         # checkpoints: less in the file than before, or than the run had said
    different: int = 0    # chains whose end is not that of the unharmed run, bit for bit
    mpirun: int = 0       # of the kills: mpirun itself did not end after its ranks had (Open MPI 4.1); no fault of the run
    other: int = 0        # files that did not open, runs that did not resume, processes left over
    problems: list = dataclasses.field(default_factory=list)

    def fail(self, kind, text):
        setattr(self, kind, getattr(self, kind) + 1)
        self.problems.append(f"{self.name}: {text}")


def prepared(work, nudge, folder):
    folder.mkdir(parents=True)
    for name, text in CONFIGS.items():
        (folder / name).write_text(text)
    for part in range(1, work.parts + 1):
        shard = ["sweep", "sweep.toml", "--shard", f"{part}/{work.parts}", "--out", f"part{part}.h5"]
        complete(Run([nudge] + shard, folder), work.name)


def complete(run, name):
    done = run.wait_for_end(GRACE)
    if not done or run.process.returncode != 0:
        raise SystemExit(f"{name}: an unharmed run ended with exit {run.process.returncode}\n{run.log()}")


def measured(work, nudge, folder):
    """The unharmed run: its file, and the median time of three."""
    times = []
    for k in range(3):
        place = folder / f"unharmed{k}"
        prepared(work, nudge, place)
        start = time.monotonic()
        complete(Run(work.command(nudge, False), place), work.name)
        times.append(time.monotonic() - start)
    return folder / "unharmed0" / "out.h5", statistics.median(times)


def digests(folder, work):
    return [hashlib.sha256((folder / f"part{p}.h5").read_bytes()).hexdigest() for p in range(1, work.parts + 1)]


def chosen_victims(run, random, tally):
    """All processes; of mpirun also one of its ranks, or mpirun alone."""
    alive = run.session()
    ranks = [pid for pid, name in alive if name == "nudge"]
    how = random.random()
    if len(ranks) > 1 and how < 0.6:
        tally.one_rank += 1
        return [random.choice(ranks)]
    if len(ranks) > 1 and how < 0.7:
        return [run.process.pid]
    return [pid for pid, _ in alive]


def look(path, tally, before, promised, what):
    """What the file holds after a kill; says when something is missing."""
    try:
        now = run_files.progress(path) if path.exists() else 0
    except (OSError, KeyError) as error:
        tally.fail("other", f"{what}: the file does not open: {error}")
        return before
    if now < max(before, promised):
        tally.fail("lost", f"{what}: the file holds {now}, it held {before} and the run had said {promised}")
    return now


def chain(work, nudge, folder, reference, random, tally, most):
    """Kills one run and its successors at most `most` times, then lets it end and compares. False: the time is up."""
    prepared(work, nudge, folder)
    output = folder / "out.h5"
    parts = digests(folder, work)
    held, attempts = 0, random.randint(1, most)
    for attempt in range(attempts + 1):
        resumed = output.exists()
        if resumed and not work.resume:
            break
        run = Run(work.command(nudge, resumed), folder)
        if attempt == attempts:
            ended = run.wait_for_end(GRACE)
        else:
            ended = strike(run, random.uniform(0, tally.seconds), random, tally, resumed)
        log = run.log()
        what = f"attempt {attempt + 1} of {folder.name}"
        held = look(output, tally, held, work.promised(log), what)
        if not ended:
            if attempt < attempts and {name for name, _ in run.left} == {"mpirun"}:  # after a kill; its ranks have ended
                tally.mpirun += 1
            else:
                tally.fail("other", f"{what}: processes were left over: {run.left}; its last words: {log[-300:]!r}")
        if run.process.returncode == 0:
            break
        if run.process.returncode in (1, 2, 3) and not work.ranks or attempt == attempts:
            tally.fail("other", f"{what}: exit {run.process.returncode}: {log[-300:]}")
            return
    tally.chains += 1
    changed = run_files.differences(reference, output) if output.exists() else ["no file"]
    if changed or parts != digests(folder, work):
        tally.fail("different", f"{folder.name}: {', '.join(changed[:5]) or 'the parts'}")
    shutil.rmtree(folder)


def strike(run, seconds, random, tally, resumed):
    """Lets it run for so long, kills, and waits for the rest. A run that has ended by then counts as no kill."""
    end = time.monotonic() + seconds
    while run.process.poll() is None and time.monotonic() < end:
        time.sleep(min(0.005, max(0, end - time.monotonic())))
    if run.process.poll() is not None:
        return run.wait_for_end(GRACE)
    for pid in chosen_victims(run, random, tally):
        kill(pid)
    tally.kills += 1
    tally.resumed += 1 if resumed else 0
    return run.wait_for_end(GRACE)


def torture(work, nudge, folder, random, kills, deadline, most=6):
    """Chains until so many kills were counted, or the time is up."""
    tally = Tally(work.name)
    base = pathlib.Path(folder) / work.name.replace(" ", "_")
    reference, tally.seconds = measured(work, nudge, base)
    while tally.kills < kills and time.monotonic() < deadline:
        chain(work, nudge, base / f"chain{tally.chains + len(tally.problems)}", reference, random, tally, most)
    return tally
