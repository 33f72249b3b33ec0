# SPDX-License-Identifier: Apache-2.0
"""What a second thread gives: one training, and a sweep of 16 points, on one and on two threads in turn, by the clock. Writes docs/scaling.md's table.
Other programs must rest: a machine with two cores and anything else on it has less than two to give.

    python3 tools/scaling/threads.py --write docs/scaling.md
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

from scaling import CONFIG, LARGE, ROOT

SWEEP = "\n[sweep]\nseeds = [1, 2, 3, 4]\n[sweep.grid]\n'train.learning_rate' = [1e-3, 2e-3, 4e-3, 8e-3]\n"


def clock(nudge, place, words):
    """Seconds on the clock of one run."""
    start = time.monotonic()
    subprocess.run([nudge] + words + ["--out", "o.h5"], cwd=place, capture_output=True, check=True)
    taken = time.monotonic() - start
    (place / "o.h5").unlink()
    return taken


def training(nudge, place, threads, steps=6):
    """Seconds per step: what more steps take more."""
    def took(n):
        (place / "c.toml").write_text(CONFIG.format(channels=LARGE[0], memories=LARGE[1], steps=n, batch=32))
        return clock(nudge, place, ["train", "c.toml", "--set", f"threads={threads}"])
    few = took(1)
    return (took(1 + steps) - few) / steps


def sweep(nudge, place, threads):
    """Seconds of 16 points."""
    (place / "s.toml").write_text(CONFIG.format(channels=48, memories=192, steps=10, batch=8) + SWEEP)
    return clock(nudge, place, ["sweep", "s.toml", "--set", f"threads={threads}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nudge", default=str(ROOT / "build/release/apps/nudge"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", default="")
    options = parser.parse_args()
    nudge = str(pathlib.Path(options.nudge).resolve())
    table = ["| work | one thread (s) | two (s) | times as fast, median of rounds | range |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        for name, work in (("step of `aep_transposed`, C=128, M=512, T=32, B=32", training), ("sweep of 16 points, C=48, M=192, T=32", sweep)):
            rounds = [(work(nudge, pathlib.Path(folder), 1), work(nudge, pathlib.Path(folder), 2)) for _ in range(options.rounds)]
            gains = [one / two for one, two in rounds]
            one, two = (statistics.median(times) for times in zip(*rounds))
            table.append(f"| {name} | {one:.3f} | {two:.3f} | {statistics.median(gains):.2f} | {min(gains):.2f}–{max(gains):.2f} |")
            print(table[-1], flush=True)
    if options.write:
        path = pathlib.Path(options.write)
        begin, end = "<!-- table threads begin -->", "<!-- table threads end -->"
        path.write_text(re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: "\n".join([begin, *table, end]), path.read_text(), flags=re.S))


if __name__ == "__main__":
    main()
