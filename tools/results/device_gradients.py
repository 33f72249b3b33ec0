#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which imperfection spoils the gradient, against the gradient of the device and of the nominal weights."""
import results

CONFIG = "examples/device_gradients.toml"
NOMINAL = ["gradcheck.reference=nominal"]
SHORT = ["gradcheck.train_steps=2", "train.batch=1", "model.tokens=8", "sweep.seeds=[1]"]


def l2(cell):
    mean = cell["relative_l2"]["mean"]
    return "–" if mean is None else f"{mean:.2g}"


def changed(cell, keys, baseline):
    return ", ".join(f"`{k}` = {cell[k]}" for k in keys if cell[k] != baseline[k]) or "none"


commits = results.noted("device_gradients")
device = results.study("sweep", CONFIG, "device_gradients", [], SHORT)
nominal = results.study("sweep", CONFIG, "device_gradients_nominal", NOMINAL, SHORT)
baseline = device["summary"][0]
rows = [["imperfection", "cosine, device", "relative L2", "cosine, nominal", "relative L2", "residual", "runs (failed)"]]
for one, other in zip(device["summary"], nominal["summary"]):
    residual = one["residual"]["mean"]
    rows.append([changed(one, device["keys"], baseline), results.cosine(one["cosine"]["mean"]), l2(one),
                 results.cosine(other["cosine"]["mean"]), l2(other), "–" if residual is None else f"{residual:.1e}",
                 f"{one['runs']} ({one['failed']})"])
body = results.table(rows) + ("\n\nCosine over all parameters of the equilibrium as one vector, means over the seeds. Residual: "
                              "|F|/|z| after the free phase; a residual near 1 is no equilibrium, and no gradient.")
results.write("device_gradients", [results.shown("sweep", CONFIG, []), results.shown("sweep", CONFIG, NOMINAL, "nominal")], body, commits)
