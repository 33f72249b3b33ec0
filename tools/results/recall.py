#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does attention on devices learn to recall in context? Trained to the plateau: backprop and EP of exact numbers, `ecram` with the
physics of its circuits, and frozen devices. Accuracy on the test split, by seed."""
import results

CONFIG = "examples/recall.toml"
SHARED = ["train.steps=900", "sweep.seeds=[1, 2, 3, 4, 5]", "sweep.test=true"]
SHORT = ["train.steps=5", "train.evaluate_every=5", "sweep.seeds=[1]", "model.channels=16", "model.memories=16"]
WAYS = {"recall_exact": SHARED + ['sweep.grid.estimator=["bptt", "aep_transposed"]'],
        "recall_ecram": SHARED + ["device.preset=ecram", 'sweep.grid.crossbar.update=["pulses", "none"]']}
NAMES = {"bptt": "backprop, exact numbers", "aep_transposed": "EP, exact numbers", "pulses": "EP on `ecram`, pulses, physics on", "none": "frozen `ecram`"}

commits = results.noted("recall")
rows = [["what learns", "accuracy of each seed", "runs (failed)", "test accuracy", "test loss, nat", "last fifth, nat per 1000 steps"]]
for name, settings in WAYS.items():
    answer = results.study("sweep", CONFIG, name, settings, SHORT)
    for cell in answer["summary"]:
        way = cell.get("estimator") if name == "recall_exact" else cell["crossbar.update"]
        scores = results.by_seed(answer, cell, "test_accuracy")
        rows.append([NAMES[way], ", ".join(f"{100 * scores[seed]:.2f}" for seed in sorted(scores)) + " %", f"{cell['runs']} ({cell['failed']})",
                     results.percent(cell["test_accuracy"]), results.spread(cell["test_loss"]), results.spread(cell["loss_slope"], 3)])
body = results.table(rows) + "\n\n8 keys, 63 tokens, 900 steps of 32 sequences; mean ± standard deviation over the seeds; chance is 12.5 %."
results.write("recall", [results.shown("sweep", CONFIG, settings, name) for name, settings in WAYS.items()], body, commits, "results/networks.md")
