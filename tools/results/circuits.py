#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What do circuits learn by which rule, on which devices, and which imperfection hurts first? Random graphs of resistors, a deep resistive
network and a network of transistors as netlists, three seeds or more, error of the test part.

The record of pulses of a measured device, gong_pulses.csv (Gong et al. 2018, as aihwkit ships it), is looked for in ../shared/data/devices.
"""
import json
import math

import circuits_drawn as drawn
import results

SEEDS, TUNING = (1, 2, 3), 11
GRID, XOR, ALLOSTERY = "examples/netlist_grid.toml", "examples/transistor_xor.toml", "examples/allostery.toml"
LAYERS, DIODES = "examples/resistive_diodes.toml", "examples/netlist_diodes.toml"
SHORT = ["train.steps=20"]
RULES = ["adjoint", "ep", "coupled_learning", "frequency"]
FROZEN = ["estimator=adjoint", "train.learning_rate=1e-12", "train.steps=1"]


def run(config, name, settings, seed):
    """One training on one thread: its JSON, kept; None where it failed."""
    kept = results.FOLDER / f"circuits_{name}_{seed}.json"
    results.FOLDER.mkdir(parents=True, exist_ok=True)
    if not kept.exists():
        out = kept.with_suffix(".h5")
        out.unlink(missing_ok=True)
        options = settings + [f"seed={seed}", "threads=1"] + (SHORT if results.SHORT else [])
        command = [results.PROGRAM, "train", config, "--json", "--out", str(out)] + [w for s in options for w in ("--set", s)]
        try:
            kept.write_text(results.execute(command))
        except SystemExit:
            kept.write_text("null")
        out.unlink(missing_ok=True)
    return json.loads(kept.read_text())


def spread(found, digits=2):
    """Mean ± deviation, and the mean."""
    mean = sum(found) / len(found)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in found) / (len(found) - 1))
    deviation = float(f"{deviation:.1g}") if deviation > 1e-9 * abs(mean) else 0  # or rounding of equal numbers
    return f"{mean:.{digits}g} ± {deviation:g}", mean


def error(answers):
    """Mean ± deviation of the root mean square error on the test part."""
    found = [a["test_rmse"] for a in answers if a and a.get("test_rmse") is not None]
    if len(found) < len(answers):
        return f"–, {len(answers) - len(found)} of {len(answers)} failed", math.inf
    return spread(found)


def accuracy(answers):
    return spread([100 * a["test_accuracy"] for a in answers], 3)[0] + " %"


def by_rule(rule):
    """The rule, and the nudge or the pull that suits it."""
    return [f"estimator={rule}"] + ([] if rule in ("adjoint", "frequency") else
                                    [f"beta={0.1 if rule == 'coupled_learning' else 1e-3}"])


def graphs():
    rows = [["nodes"] + [f"`{rule}`" for rule in RULES]]
    for nodes, steps, rate, name in ((32, 600, 1e-2, "graph32"), (256, 300, 1e-2, "graph256"), (1024, 150, 1e-2, "graph1024"),
                                     (1024, 60, 1e-1, "graph1024_fast")):
        graph = drawn.regression(nodes, 7)
        cells = []
        for rule in RULES:
            settings = graph + [f"train.steps={steps}", f"train.learning_rate={rate:g}"] + by_rule(rule)
            cells.append(error([run(GRID, f"{name}_{rule}", settings, s) for s in SEEDS])[0])
        rows.append([f"{nodes}, {steps} steps, rate {rate:g}"] + cells)
    return results.table(rows)


def classified(heading, cases):
    """Accuracies by rule, frozen ones beside; a case: what its row is called, name of its runs, graph, scale of its inputs, steps."""
    rows = [[heading] + [f"`{rule}`" for rule in RULES] + ["frozen"]]
    for title, name, graph, scale, steps in cases:
        graph = graph + [f"netlist.input_scale={scale}", "train.batch=16", "train.evaluate_every=0", f"train.steps={steps}"]
        cells = [accuracy([run(GRID, f"{name}_{rule}", graph + ["train.learning_rate=0.1"] + by_rule(rule), s)
                           for s in SEEDS]) for rule in RULES]
        frozen = [run(GRID, f"{name}_frozen", graph + FROZEN, s) for s in SEEDS]
        rows.append([title] + cells + [accuracy(frozen)])
    linear = frozen[0]["reference"]["test"]["linear"]["score"]
    return results.table(rows) + f"\n\nA linear model has {100 * linear:.1f} % of the test part."


def irises():
    """Iris on graphs of three sizes."""
    return classified("nodes", [(f"{nodes}, {steps} steps", f"iris{nodes}", drawn.iris(nodes, 7), 2, steps)
                                for nodes, steps in ((32, 300), (256, 150), (1024, 60))])


def digits():
    """Digits on graphs of 256 and 1024 nodes."""
    return classified("nodes, resistors at a node, steps", [
        (f"{nodes}, {degree}, {steps}", name, drawn.digits(nodes, degree, 7), 5, steps)
        for nodes, degree, steps, name in ((256, 12, 200, "digits12"), (256, 48, 200, "digits48"), (1024, 6, 60, "digits1024_6"))])


def bridge():
    """One network as layers and as the netlist that it is exported to."""
    task = ["task.kind=classification", "data.file=", "data.labels=", "data.scaling=unit", "train.steps=60", "train.batch=16",
            "train.evaluate_every=0"]
    layers = ["resistive.hidden=[24, 12]"]
    inputs = [drawn.listed("netlist.inputs", [f"vx{k}" for k in range(64)]),
              drawn.listed("netlist.mirrored", [f"vx{64 + k}" for k in range(64)]),
              drawn.listed("netlist.outputs", [f"n3_{k}" for k in range(10)])]
    rows = [["seed", "test loss, layers", "netlist", "apart by", "test accuracy, layers", "netlist"]]
    for seed in SEEDS:
        netlist = results.FOLDER / f"diodes_{seed}.cir"
        if not netlist.exists():
            results.FOLDER.mkdir(parents=True, exist_ok=True)
            results.execute([results.PROGRAM, "crossbar", LAYERS, "--block", str(netlist)] +
                            [w for s in task[:4] + layers + [f"seed={seed}"] for w in ("--set", s)])
        one = run(LAYERS, "bridge_layers", task + layers, seed)
        other = run(DIODES, "bridge_netlist", task + inputs + [f"netlist.file={netlist}"], seed)
        rows.append([seed, f"{one['test_loss']:.6f}", f"{other['test_loss']:.6f}",
                     f"{abs(other['test_loss'] / one['test_loss'] - 1):.0e}",
                     *(f"{100 * a['test_accuracy']:.2f} %" for a in (one, other))])
    return results.table(rows)


def allostery():
    """Share of random targets that are met, by how many there are."""
    rules, seeds = RULES[:3], (1, 2, 3, 4, 5)
    rows = [["targets"] + [f"`{rule}`" for rule in rules] + ["error left, median", "frozen: error, V"]]
    for targets in (1, 4, 8, 12, 16, 20, 24):
        tasks = {seed: drawn.allostery(32, targets, 1, seed) for seed in seeds}
        asked = {s: run(ALLOSTERY, f"allostery{targets}_frozen", tasks[s] + FROZEN, s)["test_rmse"] for s in seeds}
        cells, left = [], []
        for rule in rules:
            answers = {s: run(ALLOSTERY, f"allostery{targets}_{rule}", tasks[s] + by_rule(rule), s) for s in seeds}
            left.append(sorted(a["test_rmse"] / asked[s] if a else math.inf for s, a in answers.items()))
            cells.append(f"{sum(one < 0.01 for one in left[-1])} of {len(seeds)}")
        rows.append([targets] + cells + [", ".join(f"{one[len(one) // 2]:.1g}" for one in left),
                                        spread(list(asked.values()))[0]])
    return results.table(rows)


def on_devices():
    """The grid on devices that are written in place, beside exact numbers and frozen devices."""
    devices = [("`device.preset=ecram`", ["device.preset=ecram"])]
    for model in ("soft_bounds", "linear_step"):
        fitted = results.fitted(f"gong_{model}.toml", ["gong_pulses.csv", "--window", "1 uS,25 uS", "--model", model])
        if fitted:
            devices.append((f"Gong et al. (devices.md; not in the repository), fitted by `{model}`", fitted))
    rows = [["conductances", "`coupled_learning`", "`adjoint`", "frozen"]]
    exact = [error([run(GRID, f"grid_exact_{rule}", by_rule(rule), s) for s in SEEDS])[0] for rule in ("coupled_learning", "adjoint")]
    rows.append(["exact numbers", *exact, error([run(GRID, "grid_exact_frozen", FROZEN, s) for s in SEEDS])[0]])
    for number, (title, device) in enumerate(devices):
        cells = []
        for rule in ("coupled_learning", "adjoint"):
            answers = [run(GRID, f"grid_device{number}_{rule}", device + ["crossbar.update=pulses"] + by_rule(rule), s) for s in SEEDS]
            cells.append(error(answers)[0])
        frozen = error([{"test_rmse": a["null"]["frozen_devices"]["test_rmse"]} if a else None for a in answers])[0]
        rows.append([title, *cells, frozen])
    return results.table(rows)


ADAM, COMPARED = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1), (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
LADDER = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 3.0, 10.0, 30.0)
IMPERFECTIONS = [("none", []), ("sign alone", ["train.comparator_threshold=0"])] + [
    (f"{what} {size:g}", [f"train.comparator_{what}={size:g}"]) for what in ("offset", "threshold") for size in (1e-3, 1e-2)]


# In time, with 100 pF at every node of the grid as it is drawn, which then settles to 10⁻³ in 8 us.
FARAD = ["netlist.node_capacitance=100 pF"]
TIMED = [(f"delay {us} us", FARAD + [f"netlist.delay={us} us"]) for us in (5, 10, 20)] + [
    ("delay 10 us, clock 30 us", FARAD + ["netlist.delay=10 us", "netlist.clock=30 us"])]
# On exact devices, since noise is that of devices; states that are solved for are sampled with the kT/C of every node.
QUIET = ["device.model=ideal", "hardware.level=ideal"]
NOISY = [(f"noise at {farad}", QUIET + ["circuit.thermal_noise=true", f"netlist.node_capacitance={farad}"])
         for farad in ("100 pF", "1 pF", "10 fF")]
FEW = (1e-2, 3e-2)


def best_rate(rates, score):
    """The best of a grid; beyond its end, by half a decade at a time, as long as that is better. Whether a limit has ended it."""
    scores = {rate: score(rate) for rate in rates}
    while True:
        best = min(scores, key=scores.get)
        step = (best == max(scores)) - (best == min(scores))
        if step == 0 or scores[best] == math.inf:
            return best, ""
        if not 0 <= LADDER.index(best) + step < len(LADDER):
            return best, " *"
        further = LADDER[LADDER.index(best) + step]
        scores[further] = score(further)


def ranked(config, name, more):
    """Imperfections by the error that they leave, the worst first, each at the rate that was best of a seed apart on its validation part."""
    found = []
    for title, own in IMPERFECTIONS + more:
        compared = any(s.startswith("train.comparator") for s in own)
        settings = own + (["train.optimizer=comparator", "train.warmup=0"] if compared else [])
        label = f"{name}_{title.replace(' ', '_')}"

        def score(rate):
            answer = run(config, f"{label}_at{rate:g}", settings + [f"train.learning_rate={rate:g}"], TUNING)
            return answer["validation_rmse"] if answer and answer["validation_rmse"] is not None else math.inf
        timed = any(s.startswith("netlist.delay") for s in own)
        rate, star = (min(FEW, key=score), "") if timed else best_rate(COMPARED if compared else ADAM, score)
        answers = [run(config, f"{label}_at{rate:g}", settings + [f"train.learning_rate={rate:g}"], s) for s in SEEDS]
        text, mean = error(answers)
        found.append((mean, [title, " ".join(f"`{s}`" for s in settings) or "–",
                             f"{rate:g}" + star, text]))
    found.sort(key=lambda one: -one[0])
    return results.table([["imperfection", "settings", "rate", "test error"]] + [row for _, row in found])


def main():
    commits = results.noted("circuits")
    twins = [(f"twin {m:g}", [f"netlist.twin_mismatch={m:g}"]) for m in (1e-3, 1e-2, 1e-1)]
    clocked = ["netlist.node_capacitance=10 fF", "netlist.clock=1 us"]
    times = [(f"gate leak time {s} s", clocked + [f"netlist.gate_leak_time={s} s"]) for s in (0.08, 0.8, 8)]
    leaks = [(f"gate leak {k:g}", [f"netlist.gate_leak={k:g}"]) for k in (1e-4, 1e-3, 1e-2)]
    xor = [["rule", "test error"]]
    for rule in ("adjoint", "ep", "frequency"):
        xor.append([f"`{rule}`", error([run(XOR, f"xor_{rule}", [f"estimator={rule}"] + ["beta=1e-3"] * (rule == "ep"), s) for s in SEEDS])[0]])
    parts = [("Linear regression on random graphs of resistors** (three a node, 4 features and their negatives, 2 outputs)", graphs),
             ("A deep resistive network of 128-24-12-10 nodes with Shockley diodes and amplifiers, as layers and as a netlist**: digits, 60 steps of 16",
              bridge),
             ("Allostery** (one edge of a graph of 32 nodes and 96 edges is held at 1 V, drops over others are to double or to vanish): random graphs on which "
              "less than 1 % of the change that is asked for is left", allostery),
             ("Iris on random graphs of resistors** (three a node; 4 features, their negatives and two rails, 3 outputs): accuracy", irises),
             ("Digits on random graphs of resistors**, 138 of their nodes sources: accuracy", digits),
             ("The grid on devices** that pulses write in place (`crossbar.update=pulses`), 600 steps", on_devices),
             ("Imperfections of the grid** by coupled learning, the worst first", lambda: ranked(GRID, "grid_tuned", twins + NOISY + TIMED)),
             ("Exclusive or by 20 transistors**", lambda: results.table(xor)),
             ("Imperfections of the transistors**, by the adjoint network, the worst first", lambda: ranked(XOR, "xor_tuned", leaks + times))]
    body = "\n\n".join(f"**{title}:\n\n{part()}" for title, part in parts)
    results.write("circuits", ["make results TABLES=circuits"], body +
                  "\n\nRoot mean square error of an output, V of `circuit.read_voltage`; mean ± standard deviation over seeds 1 to 3. Rates of "
                  f"imperfections: the best on the validation part of seed {TUNING} of 5 or 6 and of those beyond them, half a decade apart, until one is worse "
                  f"(delays: of {FEW[0]:g} and {FEW[1]:g}); * {LADDER[0]:g} or {LADDER[-1]:g}, where that ends.", commits)


if __name__ == "__main__":
    main()
