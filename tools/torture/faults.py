# SPDX-License-Identifier: Apache-2.0
"""What else goes wrong, one function each: a disk that is full, a folder that is read-only, a second writer, signals, streams that
cannot be written. Each says what it expects and checks it: the exit code, what is left in the folder, and that the run continues
to the bits of an unharmed one."""
import contextlib
import dataclasses
import os
import pathlib
import resource
import signal
import subprocess
import time

import run_files
from processes import Run
from works import CONFIGS

NAME = "out.h5"
TRAIN = ["train", "digital.toml", "--out", NAME]
RESUME = ["train", "--resume", NAME]
LIMIT = 60  # seconds for any of these runs: far more than they take


class Problem(Exception):
    """What was seen is not what should be."""


class Skip(Exception):
    """The machine does not let it be tried."""


@dataclasses.dataclass
class Check:
    name: str
    seen: str = ""
    problem: str = ""


class Place:
    """A folder with the configs, and the file of the unharmed run."""

    def __init__(self, nudge, folder):
        self.nudge, self.folder = nudge, folder
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in CONFIGS.items():
            (folder / name).write_text(text)

    def start(self, arguments, **options):
        return Run([self.nudge] + arguments, self.folder, **options)

    def run(self, arguments, **options):
        run = self.start(arguments, **options)
        run.wait_for_end(LIMIT)
        return run

    def output(self):
        return self.folder / NAME

    def interrupted(self, steps=5, sent=signal.SIGINT, arguments=None):
        """A run that is asked to stop after so many steps, and its exit code."""
        run = self.start(arguments or TRAIN)
        end = time.monotonic() + LIMIT
        while f"step {steps:>6}/" not in run.log() and run.process.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        run.process.send_signal(sent)
        run.wait_for_end(LIMIT)
        return run


def expect(condition, problem):
    if not condition:
        raise Problem(problem)


def expect_exit(run, code, words=""):
    expect(run.process.returncode == code, f"exit {run.process.returncode} and not {code}: {run.log()[-300:]}")
    expect(words in run.log(), f"does not say \"{words}\": {run.log()[-300:]}")


def unharmed(place):
    other = Place(place.nudge, place.folder.parent / "unharmed")
    if not other.output().exists():
        expect_exit(other.run(TRAIN), 0)
    return other.output()


def expect_same_end(place, arguments=None):
    if arguments is not None:
        expect_exit(place.run(arguments), 0)
    changed = run_files.differences(unharmed(place), place.output())
    expect(not changed, f"other bits than the unharmed run: {', '.join(changed[:5])}")


def expect_nothing_hidden(folder):
    hidden = [p.name for p in pathlib.Path(folder).iterdir() if ".partial-" in p.name]
    expect(not hidden, f"left behind: {hidden}")


@contextlib.contextmanager
def small_disk(folder, options):
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "nudge_torture", str(folder)], capture_output=True,
                          check=False)
    if made.returncode != 0:
        raise Skip("a small disk needs root and tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk):
    with open(disk / "filler", "ab", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(b"\0" * 4096)


def full_disk(place):
    """Fresh: nothing is left. Resumed: the checkpoint stays as it was, and with space again the run goes on."""
    expect_exit(place.interrupted(), 0)
    checkpoint = place.output().read_bytes()
    with small_disk(place.folder / "disk", "size=2m") as disk:
        small = Place(place.nudge, disk)
        small.output().write_bytes(checkpoint)
        fill(disk)
        expect_exit(small.run(RESUME, stderr=open(place.folder / "log.txt", "wb")), 2)
        expect("No space left" in (place.folder / "log.txt").read_text(), "does not say why")
        expect(small.output().read_bytes() == checkpoint, "the checkpoint has changed")
        expect_nothing_hidden(disk)
        small.output().unlink()
        fill(disk)
        expect_exit(small.run(TRAIN, stderr=subprocess.DEVNULL), 2)
        expect(not small.output().exists(), "left a file")
        expect_nothing_hidden(disk)
    expect_same_end(place, RESUME)
    return "exit 2, says why; the checkpoint is unchanged, nothing else is left; goes on when there is space"


def file_size_limit(place):
    expect_exit(place.interrupted(), 0)
    checkpoint = place.output().read_bytes()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (len(checkpoint) // 2, resource.RLIM_INFINITY))
    expect_exit(place.run(RESUME, preexec_fn=limit), 2, "File too large")
    expect(place.output().read_bytes() == checkpoint, "the checkpoint has changed")
    expect_nothing_hidden(place.folder)
    expect_same_end(place, RESUME)
    return "exit 2, says why; the checkpoint is unchanged; goes on without the limit"


def read_only_folder(place):
    """As root the folder is a disk mounted read-only: permissions do not bind root."""
    out = place.folder / "shut"
    if os.geteuid() != 0:
        out.mkdir(mode=0o555)
        run = place.run(["train", "digital.toml", "--out", "shut/" + NAME])
    else:
        with small_disk(out, "size=1m,ro"):
            run = place.run(["train", "digital.toml", "--out", "shut/" + NAME])
    expect_exit(run, 2, "shut/")
    expect("step " not in run.log(), "found out only after work was done")
    return "exit 2 before the first step"


def two_writers(place):
    first = place.start(TRAIN)
    while not place.output().exists() and first.process.poll() is None:
        time.sleep(0.002)
    os.kill(first.process.pid, signal.SIGSTOP)
    log = place.folder / "second.txt"
    for arguments in (RESUME, ["sweep", "sweep.toml", "--resume", NAME]):
        with open(log, "wb") as text:
            second = place.run(arguments, stderr=text)
        expect(second.process.returncode == 2, f"a second writer ended with exit {second.process.returncode}")
        expect(f"process {first.process.pid} on host" in log.read_text(), "does not name the first writer")
    os.kill(first.process.pid, signal.SIGCONT)
    first.wait_for_end(LIMIT)
    expect(first.process.returncode == 0, f"the first writer ended with exit {first.process.returncode}")
    expect_same_end(place)
    return "the second: exit 2, names process and host of the first, which ends unharmed"


def lock_is_taken(place):
    """By a link to another file, a file of the user's, a pipe that nobody reads: none is changed, none keeps a reader waiting."""
    lock, victim = place.folder / f".{NAME}.lock", place.folder / "victim"
    victim.write_text("precious")
    for put in (lambda: lock.symlink_to(victim), lambda: lock.write_text("notes"), lambda: os.mkfifo(lock)):
        put()
        facts = lambda: [getattr(lock.lstat(), fact) for fact in ("st_mode", "st_ino", "st_size", "st_mtime_ns")]
        before = facts()
        expect_exit(place.run(TRAIN), 2, "is not a lock file of nudge")
        expect(facts() == before, "what was in the lock's place has changed")
        lock.unlink()
    expect(victim.read_text() == "precious", "the file behind the link has changed")
    expect_exit(place.run(TRAIN), 0)
    os.mkfifo(lock)
    expect_exit(place.run(["watch", "--once", NAME]), 0)
    lock.unlink()
    expect_same_end(place)
    return "exit 2, says why; link, file, pipe and what lies behind stay as they are; `watch` does not wait"


def hidden_names_are_taken(place):
    """By links and files as earlier processes named theirs, and as this version does."""
    victim = place.folder / "victim"
    victim.write_text("precious")
    names = [str(pid) for pid in range(1, 2000)] + ["0123456789abcdef"]
    for name in names:
        (place.folder / f".{NAME}.partial-{name}").symlink_to(victim)
    (place.folder / f".{NAME}.partial-fedcba9876543210").write_text("notes")
    expect_exit(place.run(TRAIN), 0)
    expect(victim.read_text() == "precious", "the file behind the links has changed")
    expect(len(list(place.folder.glob(".*.partial-*"))) == len(names) + 1, "a file that is none of nudge's is gone")
    expect_same_end(place)
    return "exit 0; nothing is written through them, nothing of them removed"


def permissions(place):
    """Another owner where the machine lets one be given."""
    expect_exit(place.interrupted(), 0)
    place.output().chmod(0o600)
    if os.geteuid() == 0:
        os.chown(place.output(), 12345, 54321)
    before = place.output().stat()
    expect_same_end(place, RESUME)
    after = place.output().stat()
    for fact in ("st_mode", "st_uid", "st_gid"):
        expect(getattr(before, fact) == getattr(after, fact), f"another {fact}: {getattr(after, fact)}")
    return "mode, owner and group are those of the file that was resumed; the same bits"


def read_only_file(place):
    """Root could write it, and does not."""
    expect_exit(place.interrupted(), 0)
    checkpoint = place.output().read_bytes()
    place.output().chmod(0o444)
    run = place.run(RESUME)
    expect_exit(run, 2, "is read-only")
    expect("step " not in run.log(), "found out only after work was done")
    expect(place.output().read_bytes() == checkpoint, "the checkpoint has changed")
    expect(place.output().stat().st_mode & 0o777 == 0o444, "another mode")
    place.output().chmod(0o644)
    expect_same_end(place, RESUME)
    return "exit 2 before the first step, by root too; the checkpoint is unchanged; goes on after chmod u+w"


def asked_to_stop(sent):
    def check(place):
        run = place.interrupted(5, sent)
        expect_exit(run, 0, "continue with")
        done = run_files.progress(place.output())
        expect(done >= 5, f"step 5 had ended and {done} are saved")
        expect_same_end(place, RESUME)
        return "exit 0, every step that had ended is saved; resumes to the same bits"
    return check


def ends_whole(start, code):
    """start(place): a training with a stream that takes nothing."""
    def check(place):
        run = start(place)
        run.wait_for_end(LIMIT)
        expect(run.process.returncode == code, f"exit {run.process.returncode} and not {code}")
        expect_same_end(place)
        return f"exit {code}, the file is complete"
    return check


def without_reader(stream, code):
    """The other end of the pipe is closed before the first byte."""
    def start(place):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as pipe:
            return place.start(TRAIN + ["--json"], **{stream: pipe})
    return ends_whole(start, code)


def closed(descriptor, code):
    shell = ["sh", "-c", f'exec "$@" {descriptor}>&-', "sh"]
    return ends_whole(lambda place: Run(shell + [place.nudge] + TRAIN + ["--json"], place.folder), code)


def full_stream(stream, code):
    def start(place):
        with open("/dev/full", "wb") as full:
            return place.start(TRAIN + ["--json"], **{stream: full})
    return ends_whole(start, code)


FAULTS = [
    ("disk full", full_disk),
    ("ulimit -f", file_size_limit),
    ("read-only folder", read_only_folder),
    ("two writers of one file", two_writers),
    ("a link, a file or a pipe in the lock's place", lock_is_taken),
    ("links and files in the hidden file's place", hidden_names_are_taken),
    ("mode 600 and another owner", permissions),
    ("read-only file", read_only_file),
    ("SIGINT", asked_to_stop(signal.SIGINT)),
    ("SIGTERM", asked_to_stop(signal.SIGTERM)),
    ("SIGHUP", asked_to_stop(signal.SIGHUP)),
    ("reader of standard output gone (SIGPIPE)", without_reader("stdout", 4)),
    ("reader of standard error gone", without_reader("stderr", 0)),
    ("standard output closed", closed(1, 4)),
    ("standard error closed", closed(2, 0)),
    ("standard output on a full disk", full_stream("stdout", 4)),
    ("standard error on a full disk", full_stream("stderr", 0)),
]


def checked(name, fault, nudge, folder):
    place = Place(nudge, folder / "faults" / "".join(c if c.isalnum() else "_" for c in name))
    try:
        return Check(name, seen=fault(place))
    except Skip as why:
        return Check(name, seen=f"not tried: {why}")
    except (Problem, OSError) as problem:
        return Check(name, seen="FAILED", problem=str(problem))
