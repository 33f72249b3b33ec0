# SPDX-License-Identifier: Apache-2.0
"""Measures one training on 1 to 4 ranks, fits a model of a step to the CPU time of the busiest rank, and writes results/scaling.md's table.
CPU time, since other programs do not change it much; what a rank waits for the others is not in it.

    python3 tools/scaling/scaling.py --write results/scaling.md
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/results"))
import results  # noqa: E402

CHUNKS = 16  # of a batch: training/batch/batch_gradient.cpp
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none"}
CONFIG = """estimator = "aep_transposed"
beta = 0.01
[model]
channels = {channels}
tokens = 32
memories = {memories}
heads = 4
[train]
steps = {steps}
batch = {batch}
warmup = 1
evaluate_every = 0
checkpoint_every = 0
evaluation_batches = 1
test_batches = 1
"""
SMALL, LARGE = (32, 64), (128, 512)  # channels, memories


def parameters(size):
    """Weights of the equilibrium and of the read-out, whose gradients travel: q, k, v, m and o, tokens, positions, read-out."""
    channels, memories = size
    symbols = 65  # near enough: of the text that ships
    return channels * (3 * channels + memories) + channels * channels + (2 * symbols + 32) * channels


def run(nudge, place, size, batch, ranks, steps):
    """CPU seconds of the busiest rank, and seconds on the clock, of a training of so many steps."""
    (place / "c.toml").write_text(CONFIG.format(channels=size[0], memories=size[1], steps=steps, batch=batch))
    times = place / "times"
    times.unlink(missing_ok=True)
    command = (["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [
        "/usr/bin/time", "-a", "-o", str(times), "-f", "%U %S", nudge, "train", "c.toml", "--set", "threads=1", "--out", "o.h5"]
    start = time.monotonic()
    subprocess.run(command, cwd=place, env=dict(os.environ, **MPI), capture_output=True, check=True)
    clock = time.monotonic() - start
    (place / "o.h5").unlink()
    return max(sum(map(float, line.split())) for line in times.read_text().splitlines()), clock


def seconds_per_step(nudge, folder, size, batch, ranks, steps):
    """CPU seconds of the busiest rank per step, and seconds on the clock: what more steps take more."""
    place = pathlib.Path(folder)
    few, many = run(nudge, place, size, batch, ranks, 1), run(nudge, place, size, batch, ranks, 1 + steps)
    return tuple((b - a) / steps for a, b in zip(few, many))


def most(batch, ranks):
    """Sequences of the rank that has most."""
    chunks = min(CHUNKS, batch)
    used = min(chunks, ranks)
    parts = [(r * chunks // used, (r + 1) * chunks // used) for r in range(used)]
    return max(end * batch // chunks - begin * batch // chunks for begin, end in parts)


def fitted(rows):
    """Least squares of relative errors of t = (a S + h) n + b P: n sequences of the busiest rank, S operations each."""
    def features(row):
        return [row["most"] * row["work"], row["most"], row["parameters"]]
    relative = np.array([features(row) for row in rows]) / np.array([[row["seconds"]] for row in rows])
    scale = np.abs(relative).max(axis=0)  # they differ by orders of magnitude
    return list(np.linalg.lstsq(relative / scale, np.ones(len(rows)), rcond=None)[0] / scale), features


def work(size):
    """Multiplications and additions of a sequence's products in one force evaluation times the 60 of its phases, 2 phases nudged."""
    channels, memories = size
    per_token = 2 * channels * (3 * channels + 2 * memories + channels) + 2 * 2 * 32 * channels
    return 32 * per_token * (30 + 2 * 2 * 30)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nudge", default=str(ROOT / "build/release/apps/nudge"))
    parser.add_argument("--write", default="")
    options = parser.parse_args()
    nudge = str(pathlib.Path(options.nudge).resolve())
    rows = []
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        plans = [("strong", size, 16, ranks) for size in (SMALL, LARGE) for ranks in (1, 2, 3, 4)]
        plans += [("weak", LARGE, 8 * ranks, ranks) for ranks in (1, 2, 4)]
        for kind, size, batch, ranks in plans:
            cpu, clock = seconds_per_step(nudge, folder, size, batch, ranks, 24 if size == SMALL else 6)
            rows.append({"kind": kind, "parameters": parameters(size), "work": work(size), "batch": batch, "ranks": ranks,
                         "most": most(batch, ranks), "seconds": cpu, "clock": clock, "size": size})
            print(rows[-1], flush=True)
    report(rows, options.write)


def report(rows, document):
    coefficients, features = fitted(rows)
    table = ["| | channels, memories | batch | ranks | sequences of the busiest | its CPU time per step (ms) | model (ms) | ratio to one rank |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        model = sum(c * x for c, x in zip(coefficients, features(row)))
        first = [r for r in rows if r["kind"] == row["kind"] and r["size"] == row["size"]][0]
        table.append(f"| {row['kind']} | {row['size'][0]}, {row['size'][1]} | {row['batch']} | {row['ranks']} | {row['most']} | "
                     f"{1e3 * row['seconds']:.1f} | {1e3 * model:.1f} | {row['seconds'] / first['seconds']:.2f} |")
    names = ("a (s per operation)", "h (s per sequence)", "b (s per parameter)")
    fit = ", ".join(f"{name} = {value:.3g}" for name, value in zip(names, coefficients))
    text = "\n".join(table) + f"\n\nFitted by least squares of relative errors: {fit}."
    print(text)
    if document:
        results.write("scaling", [f"python3 tools/scaling/scaling.py --write {document}"], text, [results.commit()], document)


if __name__ == "__main__":
    main()
