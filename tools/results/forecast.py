#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forecasts of two generated series by mixers, causal and not, beside the linear model and the least error that noise allows."""
import results

CONFIG = "examples/forecast.toml"
SHORT = ["train.steps=5", "train.evaluate_every=5", "sweep.seeds=[1]"]
SERIES = ("seasonal", "mackey_glass")
SOFTMAX = ["sweep.grid.sequence.mixer=[\"mha\", \"fem_softmax_ltg\"]", "mixer.mask=bidirectional"]



def least(ahead=32, memory=0.7, noise=0.3):
    """Of seasonal (training/data/series.hpp): the mean over all steps ahead of σ² (1 − φ^2h)/(1 − φ²), in units of its variance."""
    lasting = noise ** 2 / (1 - memory ** 2)
    mean = sum(lasting * (1 - memory ** (2 * h)) for h in range(1, ahead + 1)) / ahead
    return (mean / (0.5 + 0.125 + lasting)) ** 0.5


commits = results.noted("forecast")
rows = [["series", "mixer", "mask", "error (rmse, test)", "against mha, causal (paired)"]]
commands = []
for series in SERIES:
    first = None
    for mask, settings in (("causal", []), ("bidirectional", SOFTMAX)):
        chosen = [f"series.kind={series}", "sweep.test=true"] + settings
        commands.append(results.shown("sweep", CONFIG, chosen, f"{series}_{mask}"))
        answer = results.study("sweep", CONFIG, f"forecast_{series}_{mask}", chosen, SHORT)
        for cell in answer["summary"]:
            mixer = cell["sequence.mixer"]
            own = results.by_seed(answer, {"sequence.mixer": mixer}, "test_rmse")
            first = first or own
            rows.append([series, f"`{mixer}`", mask, results.spread(cell["test_rmse"]),
                         "–" if own is first else results.paired_by_seed(own, first, 4)])
        reference = answer["reference"]
    if series == "seasonal":
        rows.append([series, "the least that its noise allows (closed form)", "–", f"{least():.4f}", "–"])
    for model in ("linear", "mean"):
        rows.append([series, {"linear": "linear model", "mean": "the mean change"}[model], "–", f"{reference['test'][model]['score']:.4f}", "–"])
results.write("forecast", commands, results.table(rows) + "\n\nIn standard deviations of the training part, mean ± standard deviation over three seeds of one series.",
              commits, "results/experiments.md")
