#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What do circuits learn by which rule, and which imperfection hurts first? Random graphs of resistors and a network of transistors as
netlists, three seeds, error of the test part."""
import json
import math
import random

import results

SEEDS = (1, 2, 3)
GRID, XOR = "examples/netlist_grid.toml", "examples/transistor_xor.toml"
SHORT = ["train.steps=20"]
RULES = ["adjoint", "ep", "coupled_learning", "frequency"]


def run(config, name, settings, seed):
    """One training: its JSON, kept; None where it failed."""
    kept = results.FOLDER / f"circuits_{name}_{seed}.json"
    results.FOLDER.mkdir(parents=True, exist_ok=True)
    if not kept.exists():
        out = kept.with_suffix(".h5")
        out.unlink(missing_ok=True)
        options = settings + [f"seed={seed}"] + (SHORT if results.SHORT else [])
        command = [results.PROGRAM, "train", config, "--json", "--out", str(out)] + [w for s in options for w in ("--set", s)]
        try:
            kept.write_text(results.execute(command))
        except SystemExit:
            kept.write_text("null")
        out.unlink(missing_ok=True)
    return json.loads(kept.read_text())


def error(answers):
    """Mean ± deviation of the root mean square error on the test part."""
    found = [a["test_rmse"] for a in answers if a and a.get("test_rmse") is not None]
    if len(found) < len(answers):
        return f"–, {len(answers) - len(found)} of {len(answers)} failed", math.inf
    mean = sum(found) / len(found)
    spread = math.sqrt(sum((x - mean) ** 2 for x in found) / (len(found) - 1))
    return f"{mean:.2g} ± {spread:.1g}", mean


def graph(nodes, seed):
    """A connected random graph of three resistors a node, driven at 8 nodes by 4 features and their negatives, read at 2, and data of a
    linear function that convex combinations of the sources can be."""
    draw = random.Random(seed)
    edges = {(draw.randrange(k), k) for k in range(1, nodes)}
    while len(edges) < 3 * nodes:
        a, b = sorted(draw.sample(range(nodes), 2))
        edges.add((a, b))
    places = draw.sample(range(nodes), 10)
    lines = [f"random graph of {nodes} nodes"]
    for k in range(4):
        lines += [f"Vx{k} n{places[k]} 0 0", f"Vy{k} n{places[4 + k]} 0 0"]
    lines += [f"R{k} n{a} n{b} {1000 * math.exp(0.3 * draw.gauss(0, 1)):.6g}" for k, (a, b) in enumerate(sorted(edges))]
    netlist, table = results.FOLDER / f"graph_{nodes}.cir", results.FOLDER / f"graph_{nodes}.csv"
    results.FOLDER.mkdir(parents=True, exist_ok=True)
    netlist.write_text("\n".join(lines) + "\n.end\n")
    weights = [[draw.uniform(-0.15, 0.15) for _ in range(4)] for _ in range(2)]
    rows = ["x1,x2,x3,x4,y1,y2"]
    for _ in range(120):
        x = [draw.uniform(-1, 1) for _ in range(4)]
        rows.append(",".join(f"{v:.6g}" for v in x + [sum(w * v for w, v in zip(row, x)) for row in weights]))
    table.write_text("\n".join(rows) + "\n")
    outputs = "[" + ", ".join(f'"n{place}"' for place in places[8:]) + "]"
    return [f"netlist.file={netlist}", f"data.file={table}", f"netlist.outputs={outputs}", 'netlist.learn=["r*"]']


def graphs():
    rows = [["nodes"] + [f"`{rule}`" for rule in RULES]]
    for nodes, steps in ((32, 600), (256, 300), (1024, 150)):
        drawn = graph(nodes, 7)
        cells = []
        for rule in RULES:
            if rule == "frequency" and nodes > 256:
                cells.append("– (dense)")
                continue
            settings = drawn + [f"estimator={rule}", f"train.steps={steps}", f"beta={0.1 if rule == 'coupled_learning' else 1e-3}"]
            settings = [s for s in settings if not (s.startswith("beta") and rule in ("adjoint", "frequency"))]
            cells.append(error([run(GRID, f"graph{nodes}_{rule}", settings, s) for s in SEEDS])[0])
        rows.append([f"{nodes}, {steps} steps"] + cells)
    return results.table(rows)


IMPERFECTIONS = [
    ("none", []), ("sign alone", ["train.comparator_threshold=0"]),
    ("offset 1e-3", ["train.comparator_offset=1e-3"]), ("offset 1e-2", ["train.comparator_offset=1e-2"]),
    ("threshold 1e-3", ["train.comparator_threshold=1e-3"]), ("threshold 1e-2", ["train.comparator_threshold=1e-2"])]
COMPARED = ["train.optimizer=comparator", "train.warmup=0", "train.learning_rate=2e-3"]


def ranked(config, name, base, more):
    """Imperfections by the error that they leave, the worst first."""
    found = []
    for title, settings in IMPERFECTIONS + more:
        own = base if title == "none" or any(s.startswith("netlist.") for s in settings) else base + COMPARED
        answers = [run(config, f"{name}_{title.replace(' ', '_')}", own + settings, s) for s in SEEDS]
        text, mean = error(answers)
        found.append((mean, [title, " ".join(f"`{s}`" for s in own + settings) or "–", text]))
    found.sort(key=lambda one: -one[0])
    return results.table([["imperfection", "settings", "test error"]] + [row for _, row in found])


def main():
    commits = results.noted("circuits")
    twins = [(f"twin {m:g}", [f"netlist.twin_mismatch={m:g}"]) for m in (1e-3, 1e-2, 1e-1)]
    leaks = [(f"gate leak {k:g}", [f"netlist.gate_leak={k:g}"]) for k in (1e-4, 1e-3, 1e-2)]
    drawn, grid = graphs(), ranked(GRID, "grid", [], twins)
    xor = [["rule", "test error"]]
    for rule in ("adjoint", "ep", "frequency"):
        xor.append([f"`{rule}`", error([run(XOR, f"xor_{rule}", [f"estimator={rule}"], s) for s in SEEDS])[0]])
    body = ("**Linear regression on random graphs of resistors** (three a node, 4 features and their negatives, 2 outputs):\n\n" + drawn +
            "\n\n**Imperfections of the grid** by coupled learning, the worst first:\n\n" + grid +
            "\n\n**Exclusive or by 20 transistors**:\n\n" + results.table(xor) +
            "\n\n**Imperfections of the transistors**, by the adjoint network, the worst first:\n\n" +
            ranked(XOR, "xor", [], leaks) +
            "\n\nRoot mean square error of an output, V of `circuit.read_voltage`; mean ± standard deviation over seeds 1 to 3.")
    results.write("circuits", ["make results TABLES=circuits"], body, commits)


if __name__ == "__main__":
    main()
