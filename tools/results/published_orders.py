#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Orders that papers state, re-tried on the benchmark's letters: residual before TTv2 before TTv1, and ECRAM before ReRAM.

The small network of trainable.py. Rules with a fast array get the same tuning of what they transfer, on the validation split and a seed of its own; fresh
seeds then read the test split. Environment, beside that of results.py: LETTER (folder of LetterRecognition.rda, where r-cran-mlbench is not installed).
"""
import json

import results
import trainable

DEVICES = ("ecram", "reram_sb", "reram_es")
PLAIN, FAST = ("pulses",), ("residual", "ttv2", "tiki_taka")
SEEDS = ["compare.tuning_seeds=[1]", "compare.test_seeds=[11, 12, 13]"]
NETWORK = [one for one in trainable.SIZES[""] + trainable.SHARED if not one.startswith("sweep.")]
# Two devices with a symmetry point for the rules that need one, all three for pulses.
WAYS = {"orders_fast": (DEVICES[:2], FAST, ["crossbar.transfer_columns=1000", "crossbar.fast_gain=10", "compare.grid.crossbar.transfer_rate=[1.5e-3, 5e-3, 1.5e-2]"]),
        "orders_plain": (DEVICES, PLAIN, [])}
SHORT = ["data.file=", "data.test_fraction=0.2", "hopfield.hidden=[8]", "train.steps=5", "compare.test_seeds=[11, 12]"]
# The better one by the papers, and the worse one.
RULES = [("residual", "ttv2", "residual before TTv2"), ("ttv2", "tiki_taka", "TTv2 before TTv1"), ("residual", "pulses", "residual before plain pulses")]
MATERIALS = [("ecram", "reram_sb"), ("ecram", "reram_es")]
NAMES = {"residual": "residual", "ttv2": "TTv2", "tiki_taka": "TTv1 (Tiki-Taka)", "pulses": "pulses"}


def settings_of(name):
    devices, rules, own = WAYS[name]
    entrants = [f"{device} {rule}: device.preset={device}; crossbar.update={rule}" for device in devices for rule in rules]
    return NETWORK + SEEDS + own + [f"compare.entrants={json.dumps(entrants)}"]


def measured(name):
    """Test losses by (device, rule) and seed; what the tuning chose."""
    answer = results.study("compare", trainable.CONFIG, name, settings_of(name) + trainable.folder() + ["sweep.parallel=1"], SHORT)
    losses = {}
    for row in results.exported(results.FOLDER / f"{name}.h5")["test"]:
        if row["status"] == "ok":
            losses.setdefault(tuple(row["entrant"].split(" ")), {})[row["seed"]] = float(row["test_loss"])
    return losses, {tuple(one["name"].split(" ")): results.chosen_values(one, ["crossbar.transfer_rate"])[0] for one in answer["entrants"]}


def verdict(losses, better, worse):
    """Loss of the better one less that of the worse: below 0 where the order holds."""
    own, other = losses.get(better, {}), losses.get(worse, {})
    return results.paired_by_seed(own, other, 4)


def tables(losses, chosen):
    first = [["device", *NAMES.values()]]
    for device in DEVICES:
        cells = []
        for rule in NAMES:
            own, rate = losses.get((device, rule), {}), chosen.get((device, rule), "–")
            cells.append((results.mean_deviation(own.values(), 4) if own else "–") + (f" (rate {rate})" if rate != "–" else ""))
        first.append([f"`{device}`", *cells])
    second = [["order of the papers", "on", "difference of the test loss"]]
    second += [[text, f"`{device}`", verdict(losses, (device, better), (device, worse))] for better, worse, text in RULES for device in DEVICES]
    second += [[f"`{better}` before `{worse}`", NAMES[rule], verdict(losses, (better, rule), (worse, rule))] for better, worse in MATERIALS for rule in NAMES]
    return results.table(first) + "\n\n" + results.table([row for row in second if row[2] != "–"])


def main():
    commits, losses, chosen = results.noted("published_orders"), {}, {}
    for name in WAYS:
        found, rates = measured(name)
        losses, chosen = losses | found, chosen | rates
    body = tables(losses, chosen) + ("\n\nTest loss, mean ± standard deviation over the seeds; rate: the share that is transferred, as the tuning chose it, with a star at an end of its "
                                     "grid. A difference below 0 says that the order holds; it is told where its interval leaves out 0.")
    results.write("published_orders", [results.shown("compare", trainable.CONFIG, settings_of(name), name) for name in WAYS], body, commits, "results/trainable.md")


if __name__ == "__main__":
    main()
