#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fashion-MNIST (Debian's dataset-fashion-mnist): networks that settle beside perceptrons and a linear model, on numbers and on devices,
all after one epoch of the whole training part. Rates are chosen by the validation part after a quarter of an epoch at seed 1, then three
fresh seeds are tested on the official 10,000; last, what was learnt is written into cells of measured relaxation and read a day later.

The records, gong_pulses.csv and rram_c_relaxation.tsv.gz, are looked for in ../shared/data/devices; rows without theirs are left out.
"""
import itertools
import json
import statistics

import results

CONFIG = "examples/fashion.toml"
EPOCH = 3563  # steps of 16 of 57,000 pictures
SEEDS = (11, 12, 13)
AGES = ("0 s", "1e5 s")
COMMON = ["hopfield.hidden=[128]", "train.null=off", "task.references=off", "train.evaluate_every=end", "data.validation_samples=all",
          "threads=1"]
SHORT = ["train.steps=4", "data.validation_samples=32"]
RATES = (5e-4, 1e-3, 2e-3)
DEEP = ["hopfield.hidden=[128, 128]"]
MLP = ["hopfield.feedback=none", "estimator=bptt", "relaxation.free_steps=1"]
CONVOLUTIONAL = ["network.kind=convolutional", "convolutional.maps=[16]", "convolutional.kernel=[3]", "convolutional.pool=[2]",
                 "hopfield.hidden=[]"]
RESISTIVE = ["network.kind=resistive", "resistive.hidden=[128]", "estimator=ep", "beta=1", "relaxation.schedule=parallel",
             "relaxation.solver=coordinate", "relaxation.free_steps=4", "relaxation.nudged_steps=4"]
# Exact descent reads no noise: nodes without it, beside cells that relax all the same.
SILENT = ["hardware.level=ideal"]
DEEPER = ["relaxation.free_steps=30", "relaxation.nudged_steps=12"]

# name, title, settings, rates to choose from, settings of its test on aged devices (None: weights of the first row's network)
LANES = [
    ("hopfield", "hopfield 784-128-10, EP", [], RATES, [], "–"),
    ("mlp", "the same layers fed forward, backprop", MLP, RATES, [], "–"),
    ("resistive", "resistive 1568-128-10, EP", RESISTIVE, (1e-3, 3e-3, 1e-2), SILENT, "11.23 % (resistive, three hidden layers, EP)"),
]
LARGER = [
    ("deep", "hopfield 784-128-128-10, EP", DEEP + DEEPER, RATES, [], "–"),
    ("deep_mlp", "the same layers fed forward, backprop", DEEP + MLP, RATES, [], "9.55 % (perceptron, three hidden layers)"),
    ("convolutional", "convolutional, 16 maps of 3 x 3, EP", CONVOLUTIONAL, RATES, [], "8.9 % (convolutional, spiking, EP)"),
]
PRESETS = [("ecram", "on `ecram`", ["device.preset=ecram"]), ("taox", "on `taox_hfox`", ["device.preset=taox_hfox"])]


def devices():
    """Lanes of networks that learn on devices."""
    gong = results.fitted("gong_soft_bounds.toml", ["gong_pulses.csv", "--window", "1 uS,25 uS", "--model", "soft_bounds"])
    kinds = ([("gong", "hopfield 784-128-10 on the device of Gong et al. fitted by `soft_bounds`", gong)] if gong else []) + PRESETS
    lane = lambda name, title, settings: (name, title, ["estimator=ep", *settings], RATES, None, "–")
    for name, title, device in kinds:
        yield lane(f"{name}_pulses", f"{title}, pulses in place", device)
    yield lane("frozen", "on `ecram`, frozen", PRESETS[0][2] + ["crossbar.update=none"])
    for name, title, device in kinds:
        yield lane(f"{name}_verify", f"{title}, written and verified", device + ["crossbar.update=write_verify"])


def chosen(name, settings, rates):
    """The learning rate with the best validation accuracy after a quarter of an epoch."""
    listed = ", ".join(f"{rate:g}" for rate in rates)
    answer = results.study("sweep", CONFIG, f"fashion_tuning_{name}", COMMON + settings +
                           [f"train.steps={EPOCH // 4}", "sweep.seeds=[1]", f"sweep.grid.train.learning_rate=[{listed}]"], SHORT)
    best = max(answer["summary"], key=lambda cell: results.number(cell["validation_accuracy"]) or 0)
    return best["train.learning_rate"]


def trained(name, settings, seed):
    """One training: its JSON, kept beside its file; killed, it goes on."""
    out = results.FOLDER / f"fashion_{name}_{seed}.h5"
    kept = out.with_suffix(".json")
    if not kept.exists():
        options = settings + [f"seed={seed}"] + (SHORT if results.SHORT else [])
        start = ["--resume", str(out)] if out.exists() else [CONFIG, "--out", str(out)] + [w for s in options for w in ("--set", s)]
        kept.write_text(results.execute([results.PROGRAM, "train", *start, "--json"]))
    return json.loads(kept.read_text())


def aged(name, settings, seed, relaxation):
    """Accuracies after each age of what a lane learnt, written into cells of the measured relaxation."""
    kept = results.FOLDER / f"fashion_{name}_{seed}_aged.json"
    if not kept.exists():
        run = results.FOLDER / f"fashion_{'hopfield' if settings is None else name}_{seed}.h5"
        command = [results.PROGRAM, "test", str(run), "--json"] + [word for age in AGES for word in ("--age", age)]
        command += [word for s in relaxation + ["crossbar.headroom=1"] + (settings or []) for word in ("--set", s)]
        command += ["--weights", str(results.FOLDER / f"fashion_{name}_{seed}.h5")] if settings is None else []
        kept.write_text(results.execute(command))
    rows = sorted(json.loads(kept.read_text())["rows"], key=lambda row: row["age_s"])
    return [row["accuracy"] for row in rows]


def percent(found):
    return results.mean_deviation(found, 2, 100) + " %"


def main():
    commits = results.noted("fashion")
    rows = [["network", "learning rate", "validation accuracy", "test accuracy", "test error", "written into measured cells", "after 1e5 s",
             "published error, of more epochs"]]
    relaxation = results.fitted("fashion_relaxation.toml", ["rram_c_relaxation.tsv.gz", "--relaxation"])
    commands = []
    for name, title, settings, rates, on_cells, published in itertools.chain(LANES, devices(), LARGER):
        rate = chosen(name, settings, rates)
        whole = COMMON + settings + [f"train.steps={EPOCH}", f"train.learning_rate={rate}"]
        runs = [trained(name, whole, seed) for seed in SEEDS]
        tested = [run["test_accuracy"] for run in runs]
        edge = " *" if float(rate) in (rates[0], rates[-1]) else ""
        days = ["–", "–"]
        if relaxation:
            days = [percent(list(at)) for at in zip(*(aged(name, on_cells, seed, relaxation) for seed in SEEDS))]
        rows.append([title, f"{rate}{edge}", percent([run["validation_accuracy"] for run in runs]), percent(tested),
                     f"{100 * (1 - statistics.mean(tested)):.1f} %", *days, published])
        told = whole if "gong" not in name else COMMON + whole[len(COMMON) + len(settings):]
        fitted = "" if "gong" not in name else "  # with the keys of gong_soft_bounds.toml, each by --set device..."
        commands.append(results.shown("train", CONFIG, told + [f"seed={SEEDS[0]}"], f"fashion_{name}_{SEEDS[0]}") + fitted)
        results.write("fashion", commands, results.table(rows) + (  # after every row: rows take long
            "\n\nOne epoch, mean ± standard deviation of three seeds that chose nothing; on devices with the physics of the circuit on. \\*: an "
            "outermost value of the grid. Written into measured cells: the weights in cells of rram_c_relaxation.tsv.gz (devices.md), `crossbar.headroom=1`, "
            "test accuracy at once and after 1e5 s, of the resistive network with "
            "ideal nodes (`hardware.level=ideal`): `nudge test` of each file with `--set` of the fitted device."), commits)


main()
