#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a published device cost in accuracy? Pulses in place, and write-verify, where it is the resistor itself."""
import results

CONFIG = "examples/resistive_devices.toml"
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]", 'sweep.grid.device.preset=["idealized", "taox_hfox"]']

commits = results.noted("resistive_devices")
IDEAL = ["hardware.level=ideal"]
answer = results.study("sweep", CONFIG, "resistive_devices", [], SHORT)
beside = results.cells_beside(answer, results.study("sweep", CONFIG, "resistive_devices_ideal", IDEAL, SHORT))
rows = [["preset", "update", "runs (failed)", "validation accuracy", "ideal nodes", "validation loss", "cosine", "pulses of learning", "heat of the reads of a step"]]
for cell in answer["summary"]:
    mean = lambda key, form, scale=1: "–" if cell[key]["mean"] is None else form.format(scale * cell[key]["mean"])
    rows.append([f"`{cell['device.preset']}`", results.update_name(cell), f"{cell['runs']} ({cell['failed']})",
                 results.percent(cell["validation_accuracy"]), results.percent(beside(cell)["validation_accuracy"]), results.spread(cell["validation_loss"]),
                 results.cosine(cell["cosine"]["mean"]), mean("pulses", "{:.1e}"), mean("array_energy", "{:.2f} µJ", 1e6)])
body = results.table(rows) + "\n\nMean ± standard deviation over the seeds. " + results.trivial(answer["reference"])
results.write("resistive_devices", [results.shown("sweep", CONFIG, []), results.shown("sweep", CONFIG, IDEAL, "ideal")], body, commits)
