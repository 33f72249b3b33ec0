# SPDX-License-Identifier: Apache-2.0
"""What more threads give, by the clock: trainings of tokens, pictures and devices, and a sweep of 32 points. The counts of threads take turns, and each
must give the losses of one thread, bit by bit. Writes a marked table of results/scaling.md. Other programs must rest: a machine with two cores and
anything else on it has less than two to give.

    python3 tools/scaling/threads.py --write results/scaling.md
"""
import argparse
import json
import os
import pathlib
import random
import re
import statistics
import struct
import subprocess
import tempfile
import time

from scaling import CONFIG, LARGE, ROOT, results

SWEEP = "\n[sweep]\nseeds = [1, 2, 3, 4]\n[sweep.grid]\n'train.learning_rate' = [1e-3, 1.5e-3, 2e-3, 3e-3, 4e-3, 6e-3, 8e-3, 1.2e-2]\n"


def pictures(place, count=6000, size=28):
    """Ten noisy prototypes as the files of MNIST have them."""
    draw = random.Random(1)
    prototypes = [[draw.randrange(200) for _ in range(size * size)] for _ in range(10)]
    labels = [draw.randrange(10) for _ in range(count)]
    (place / "labels-idx1-ubyte").write_bytes(struct.pack(">ii", 0x801, count) + bytes(labels))
    (place / "images-idx3-ubyte").write_bytes(struct.pack(">iiii", 0x803, count, size, size) + b"".join(
        bytes(value + noise for value, noise in zip(prototypes[label], draw.choices(range(56), k=size * size))) for label in labels))


def run(nudge, place, command, config, threads, settings):
    """Seconds on the clock, and the losses."""
    words = [word for one in [f"threads={threads}"] + settings for word in ("--set", one)]
    start = time.monotonic()
    done = subprocess.run([nudge, command, str(config), "--out", "o.h5", "--json"] + words, cwd=place, capture_output=True, text=True, check=True)
    taken = time.monotonic() - start
    (place / "o.h5").unlink()
    return taken, sorted(re.findall(r'"(?:test|validation|training)?_?loss": ([^,\n]+)', json.dumps(json.loads(done.stdout), indent=0)))


def training(config, few, steps, settings):
    """Seconds per step, what more steps take more, and the losses."""
    def measured(nudge, place, threads):
        short, long = (run(nudge, place, "train", config, threads, settings + [f"train.steps={n}"]) for n in (few, few + steps))
        return (long[0] - short[0]) / steps, long[1]
    return measured


def works(place):
    """What is timed: a name, and a function of the program, the place and the threads."""
    (place / "tokens.toml").write_text(CONFIG.format(channels=LARGE[0], memories=LARGE[1], steps=1, batch=32))
    (place / "points.toml").write_text(CONFIG.format(channels=48, memories=192, steps=10, batch=8) + SWEEP)
    pictures(place)
    seen = ["data.file=images-idx3-ubyte", "data.labels=labels-idx1-ubyte", "train.evaluate_every=0", "train.checkpoint_every=0", "task.references=off"]
    hopfield = ROOT / "examples/fashion.toml"
    return [
        ("step of `aep_transposed`, C=128, M=512, T=32, B=32", training("tokens.toml", 1, 6, [])),
        ("step of `ep_contrastive`, Hopfield 784-512-10, B=16", training(hopfield, 10, 300, seen)),
        ("the same, B=64", training(hopfield, 10, 150, seen + ["train.batch=64"])),
        ("step on devices (`ecram`, `mixed`), digits, B=64",
         training(ROOT / "examples/rules_digits.toml", 10, 100, ["device.preset=ecram", "train.batch=64", "train.evaluate_every=0", "task.references=off"])),
        ("sweep of 32 points, C=48, M=192, T=32", lambda nudge, at, threads: run(nudge, at, "sweep", "points.toml", threads, [])),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nudge", default=str(ROOT / "build/release/apps/nudge"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="counts, the first of them that to compare with")
    parser.add_argument("--write", default="", help="a document with the marks of --table")
    parser.add_argument("--table", default="threads")
    options = parser.parse_args()
    nudge = str(pathlib.Path(options.nudge).resolve())
    first, *more = options.threads
    table = [f"| work | on {first} (ms) |" + "".join(f" on {n}: times as fast (range) |" for n in more), "|---|---|" + "---|" * len(more)]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        place = pathlib.Path(folder)
        for name, work in works(place):
            rounds = [[work(nudge, place, n) for n in options.threads] for _ in range(options.rounds)]
            losses = [found for one in rounds for _, found in one]
            if not losses[0] or any(found != losses[0] for found in losses):
                raise SystemExit(f"threads.py: {name}: losses differ between threads: {losses}")
            row = f"| {name} | {1e3 * statistics.median(one[0][0] for one in rounds):.3g} |"
            for k in range(1, len(options.threads)):
                gains = [one[0][0] / one[k][0] for one in rounds]
                row += f" {statistics.median(gains):.2f} ({min(gains):.2f}–{max(gains):.2f}) |"
            table.append(row)
            print(row, flush=True)
    if options.write:
        words = ["python3 tools/scaling/threads.py", f"--rounds {options.rounds}", f"--table {options.table}", f"--write {options.write}"]
        if options.threads != [1, 2]:
            words.insert(1, "--threads " + " ".join(str(n) for n in options.threads))
        results.write(options.table, [" ".join(words)], "\n".join(table), [results.commit()], options.write)


if __name__ == "__main__":
    main()
