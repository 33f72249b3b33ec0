# SPDX-License-Identifier: Apache-2.0
"""Measures one training on 1 to 4 ranks and 1 and 2 threads, fits a model of the time of a step, and writes docs/scaling.md's table.

    python3 tools/scaling/scaling.py --write docs/scaling.md
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHUNKS = 16  # of a batch: training/learning/batch_gradient.cpp
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
[output]
print_every = 1
"""
SMALL, LARGE = (32, 64), (192, 1024)  # channels, memories


def parameters(size):
    """Weights of the equilibrium and of the read-out, whose gradients travel: q, k, v, m and o, tokens, positions, read-out."""
    channels, memories = size
    symbols = 65  # near enough: of the text that ships
    return channels * (3 * channels + memories) + channels * channels + (2 * symbols + 32) * channels


def seconds_per_step(nudge, folder, size, batch, ranks, threads, steps, repeats):
    """The shortest mean of a run's steps but the first, of so many runs: other programs only ever add."""
    place = pathlib.Path(folder)
    (place / "c.toml").write_text(CONFIG.format(channels=size[0], memories=size[1], steps=steps, batch=batch))
    command = (["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [
        nudge, "train", "c.toml", "--set", f"threads={threads}", "--log-format", "json", "--out", "o.h5"]
    best = float("inf")
    for _ in range(repeats):
        done = subprocess.run(command, cwd=place, env=dict(os.environ, **MPI), capture_output=True, text=True, check=True)
        (place / "o.h5").unlink()
        lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        best = min(best, 1 / [line for line in lines if line["done"] == steps - 1][0]["steps_per_s"])
    return best


def most(batch, ranks):
    """Sequences of the rank that has most."""
    chunks = min(CHUNKS, batch)
    used = min(chunks, ranks)
    parts = [(r * chunks // used, (r + 1) * chunks // used) for r in range(used)]
    return max(end * batch // chunks - begin * batch // chunks for begin, end in parts)


def fitted(rows):
    """Least squares, relative, of t = a S n/min(R·threads, cores) + b P + [R > 1] (c P + d (R − 1)): S flops of a sequence."""
    def features(row):
        cores = min(row["ranks"] * row["threads"], row["cores"])
        shared = 1.0 if row["ranks"] > 1 else 0.0
        return [row["batch"] / cores * row["work"], row["parameters"], shared * row["parameters"],
                shared * (row["ranks"] - 1)]
    a = [[x / row["seconds"] for x in features(row)] for row in rows]
    n = len(a[0])
    normal = [[sum(r[i] * r[j] for r in a) for j in range(n)] + [sum(r[i] for r in a)] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(normal[k][i]))
        normal[i], normal[pivot] = normal[pivot], normal[i]
        for k in range(n):
            if k != i:
                factor = normal[k][i] / normal[i][i]
                normal[k] = [x - factor * y for x, y in zip(normal[k], normal[i])]
    return [normal[i][n] / normal[i][i] for i in range(n)], features


def work(size):
    """Multiplications and additions of a sequence's products in one force evaluation times the 60 of its phases, 2 phases nudged."""
    channels, memories = size
    per_token = 2 * channels * (3 * channels + 2 * memories + channels) + 2 * 2 * 32 * channels
    return 32 * per_token * (30 + 2 * 2 * 30)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nudge", default=str(ROOT / "build/release/apps/nudge"))
    parser.add_argument("--write", default="")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    options = parser.parse_args()
    nudge = str(pathlib.Path(options.nudge).resolve())
    cores = len(os.sched_getaffinity(0))
    rows = []
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        plans = [("strong", size, 16, ranks, threads) for size in (SMALL, LARGE)
                 for ranks, threads in ((1, 1), (1, 2), (2, 1), (3, 1), (4, 1))]
        plans += [("weak", LARGE, 8 * ranks, ranks, 1) for ranks in (1, 2, 4)]
        for kind, size, batch, ranks, threads in plans:
            seconds = seconds_per_step(nudge, folder, size, batch, ranks, threads, options.steps, options.repeats)
            rows.append({"kind": kind, "parameters": parameters(size), "work": work(size), "batch": batch, "ranks": ranks,
                         "threads": threads, "cores": cores, "seconds": seconds, "size": size})
            print(rows[-1], flush=True)
    coefficients, features = fitted(rows)
    table = ["| | channels, memories | batch | ranks × threads | measured (ms) | model (ms) | speed-up |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        model = sum(c * x for c, x in zip(coefficients, features(row)))
        first = [r for r in rows if r["kind"] == row["kind"] and r["size"] == row["size"]][0]
        gain = first["seconds"] / row["seconds"] * row["batch"] / first["batch"]
        table.append(f"| {row['kind']} | {row['size'][0]}, {row['size'][1]} | {row['batch']} | {row['ranks']} × {row['threads']} | "
                     f"{1e3 * row['seconds']:.1f} | {1e3 * model:.1f} | {gain:.2f} |")
    names = ("a (s/flop)", "b (s/parameter)", "c (s/parameter)", "d (s/rank)")
    fit = ", ".join(f"{name} = {value:.3g}" for name, value in zip(names, coefficients))
    text = "\n".join(table) + f"\n\nFitted by least squares of relative errors: {fit}; {cores} cores."
    print(text)
    if options.write:
        path = pathlib.Path(options.write)
        begin, end = "<!-- table scaling begin -->", "<!-- table scaling end -->"
        path.write_text(re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: f"{begin}\n{text}\n{end}", path.read_text(), flags=re.S))


if __name__ == "__main__":
    main()
