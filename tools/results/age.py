#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is left of trained digits after a wait on measured relaxation, and what helps: one mitigation at a time.

The record is rram_c_relaxation.tsv.gz (RRAM-Relaxation-Master-Model), looked for in ../shared/data/devices.
"""
import json
import statistics

import results

RECORD = "../shared/data/devices/rram_c_relaxation.tsv.gz"
AGES = ["0 s", "1 s", "1e3 s", "1e5 s"]
SEEDS = "2" if results.SHORT else "5"
WAYS = [("headroom 2 (default)", [], []),
        ("headroom 1: the whole window", ["crossbar.headroom=1"], []),
        ("headroom 4: far from the window's ends", ["crossbar.headroom=4"], []),
        ("headroom 1, mean of 16 reads", ["crossbar.headroom=1", "reads.free=mean 16", "reads.loss=mean 16"], []),
        ("headroom 1, reference column", ["crossbar.headroom=1", "crossbar.mapping=reference_column"], []),
        ("headroom 1, written anew every hour", ["crossbar.headroom=1"], ["--refresh", "1 h"]),
        ("headroom 1, written anew every 10 min", ["crossbar.headroom=1"], ["--refresh", "10 min"]),
        ("headroom 1, gain calibrated by 20 reads", ["crossbar.headroom=1", "crossbar.calibration=20"], [])]
# Devices that lose conductance: all alike, and each at its own rate.
DRIFTS = [("`ecram` with drift exponents .1 ± .005", ["device.preset=ecram", "device.drift_exponent=0.1", "device.drift_spread=0.005"]),
          ("`ecram` with drift exponents .05 ± .01", ["device.preset=ecram", "device.drift_exponent=0.05", "device.drift_spread=0.01"]),
          ("`pcm`, written and verified", ["device.preset=pcm", "crossbar.programming=write_verify"])]
# How the numbers learn that are then written: 300 steps more, of the network that has learnt exactly. `{device}`: file of the fitted device.
TRAININGS = [("exact", []),
             ("300 steps more, exact", []),
             ("300 steps more, weight noise .1", ["hardware_aware.weight_noise=0.1"]),
             ("300 steps more, weight noise .2", ["hardware_aware.weight_noise=0.2"]),
             ("300 steps more, devices of 1e5 s", ["hardware_aware.devices={device}", "hardware_aware.age=1e5 s"])]


def made(path, command):
    if not (results.ROOT / path).exists():
        results.execute(command + ["--out", path])
    return path


def settings_of(toml):
    """The tables of the fitted device as KEY=VALUE."""
    return [one for one in results.settings_of(results.ROOT / toml) if not one.startswith(("device.model=", "device.update="))]


def mean(rows, age):
    return results.mean_deviation([row["accuracy"] for row in rows if row["age_s"] == age], 1, 100)


def rows_of(run, settings, options):
    """A row of numbers: what is left after each age."""
    command = [results.PROGRAM, "test", run, "--seeds", SEEDS, "--json"] + options
    command += [word for age in AGES for word in ("--age", age)]
    command += [word for s in settings for word in ("--set", s)]
    rows = json.loads(results.execute(command))["rows"]
    return [mean(rows, age) for age in sorted({row["age_s"] for row in rows})]


def main():
    commits = results.noted("age")
    folder = results.FOLDER.relative_to(results.ROOT)
    device = made(f"{folder}/age_device.toml", [results.PROGRAM, "devices", "fit", RECORD, "--relaxation"])
    steps = ["--set", "train.steps=200"] if results.SHORT else []
    run = made(f"{folder}/age_digits.h5", [results.PROGRAM, "train", "examples/digits.toml", *steps])
    tables = ["device.model=soft_bounds"] + settings_of(device)
    table = [["mitigation"] + [f"after {age}" for age in AGES]]
    for name, settings, options in WAYS:
        table.append([name] + rows_of(run, tables + settings, options))
    for name, settings in DRIFTS:
        table.append([name] + rows_of(run, settings, []))
        table.append([name + ", gain calibrated by 20 reads"] + rows_of(run, settings + ["crossbar.calibration=20"], []))
    shown = ["nudge devices fit rram_c_relaxation.tsv.gz --relaxation --out age_device.toml",
             "nudge train examples/digits.toml --out age_digits.h5",
             f"nudge test age_digits.h5 --seeds {SEEDS} --age ... --set device....=(of age_device.toml) --set crossbar.headroom=1 --json"]
    results.write("age", shown, results.table(table) + "\n\nTest accuracy, %: mean ± standard deviation over new devices.", commits,
                  document="results/devices.md")



def aware():
    """The same test of networks that learn for their devices: accuracy after each age, by how they were trained."""
    commits = results.noted("aware")
    folder = results.FOLDER.relative_to(results.ROOT)
    fitted = made(f"{folder}/age_device.toml", [results.PROGRAM, "devices", "fit", RECORD, "--relaxation"])
    device = f"{folder}/aware_device.toml"
    (results.ROOT / device).write_text((results.ROOT / fitted).read_text() + "\n[crossbar]\nheadroom = 1\n")
    steps = ["--set", "train.evaluate_every=end"]
    tables = ["device.model=soft_bounds", "crossbar.headroom=1"] + settings_of(fitted)
    table, shown = [["training", "trainings"] + [f"after {age}" for age in AGES]], []
    for at, (name, settings) in enumerate(TRAININGS):
        found = {}
        for seed in range(1, int(SEEDS) + 1):
            more = [f"model.weights={folder}/aware_0_{seed}.h5", "train.steps=300", "train.learning_rate=1e-3"] if at > 0 else []
            own = [word for s in settings + more + [f"seed={seed}"] for word in ("--set", s.format(device=device))]
            run = made(f"{folder}/aware_{at}_{seed}.h5", [results.PROGRAM, "train", "examples/digits.toml", *steps, *own])
            command = [results.PROGRAM, "test", run, "--seeds", SEEDS, "--json"]
            command += [word for age in AGES for word in ("--age", age)] + [word for s in tables for word in ("--set", s)]
            for row in json.loads(results.execute(command))["rows"]:
                found.setdefault(row["age_s"], {}).setdefault(seed, []).append(100 * row["accuracy"])
        means = [[statistics.mean(chips) for chips in found[age].values()] for age in sorted(found)]
        table.append([name, SEEDS] + [results.mean_deviation(one, 1) for one in means])
        shown.append(" ".join(["nudge train examples/digits.toml"] + [f"--set {s.format(device='aware_device.toml')}" for s in settings] +
                              (["--set model.weights=aware_0_1.h5 --set train.steps=300 --set train.learning_rate=1e-3"] if at > 0 else []) +
                              [f"--set seed=1 --out aware_{at}_1.h5"]))
    results.write("aware", shown, results.table(table) + "\n\nTest accuracy, %, headroom 1: mean ± standard deviation over trainings, each the mean over new devices.",
                  commits, document="results/devices.md")


main()
aware()
