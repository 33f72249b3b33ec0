#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which imperfection spoils the gradient, against the gradient of the device and of the nominal weights."""
import results

CONFIG = "examples/device_gradients.toml"
NOMINAL = ["gradcheck.reference=nominal"]
# Ideal nodes, without the two imperfections that the first row has.
IDEAL = results.SAME_WAY + ["sweep.grid.circuit.thermal_noise=[false]", 'sweep.grid.crossbar.transposed_gain_spread=[0, "5 %", "20 %"]']
SHORT = ["gradcheck.train_steps=2", "train.batch=1", "model.tokens=8", "sweep.seeds=[1]"]


def l2(cell):
    mean = cell["relative_l2"]["mean"]
    return "–" if mean is None else f"{mean:.2g}"


def changed(cell, answer):
    return ", ".join(f"`{k}` = {v}" for k, v in results.changes(answer, cell).items()) or "none"


commits = results.noted("device_gradients")
device = results.study("sweep", CONFIG, "device_gradients", [], SHORT)
nominal = results.study("sweep", CONFIG, "device_gradients_nominal", NOMINAL, SHORT)
ideal = results.cells_beside(device, results.study("sweep", CONFIG, "device_gradients_ideal", IDEAL, SHORT))
rows = [["imperfection", "cosine, device", "relative L2", "ideal nodes: cosine, device", "relative L2", "cosine, nominal", "relative L2",
         "residual", "runs (failed)"]]
for one, other in zip(device["summary"], nominal["summary"]):
    beside = ideal(one)
    residual = one["residual"]["mean"]
    rows.append([changed(one, device), results.cosine(one["cosine"]["mean"]), l2(one),
                 results.cosine(beside["cosine"]["mean"]) if beside else "–", l2(beside) if beside else "–",
                 results.cosine(other["cosine"]["mean"]), l2(other), "–" if residual is None else f"{residual:.1e}",
                 f"{one['runs']} ({one['failed']})"])
body = results.table(rows) + ("\n\nCosine over all parameters of the equilibrium as one vector, means over the seeds. Residual: "
                              "|F|/|z| after the free phase; a residual near 1 is no equilibrium, and no gradient.")
results.write("device_gradients", [results.shown("sweep", CONFIG, []), results.shown("sweep", CONFIG, NOMINAL, "nominal"),
                                     results.shown("sweep", CONFIG, IDEAL, "ideal")], body, commits)
