#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does EP train on published devices? Pulses in place, and write-verify."""
import results

CONFIG = "examples/device_training.toml"
SHORT = ["data.text=", "train.steps=1", "train.batch=1", "model.tokens=8", "train.evaluation_batches=1", "sweep.seeds=[11, 12]",
         'sweep.grid.device.preset=["idealized", "taox_hfox"]']

commits = results.noted("device_training")
answer = results.study("sweep", CONFIG, "device_training", [], SHORT)
beside = results.cells_beside(answer, results.study("sweep", CONFIG, "device_training_ideal", results.SAME_WAY, SHORT))
rows = [["preset", "update", "runs (failed)", "validation loss", "ideal nodes", "cosine", "skipped", "not finite", "pulses of programming",
         "pulses of learning", "heat of a step: reads", "heat of a step: pulses"]]
for cell in answer["summary"]:
    loss = cell["validation_loss"]
    mean = lambda key, form: "–" if cell[key]["mean"] is None else form.format(cell[key]["mean"])
    heat = cell["write_energy"]["mean"]
    rows.append([f"`{cell['device.preset']}`", results.update_name(cell), f"{cell['runs']} ({cell['failed']})",
                 results.spread(loss, 3) + results.unigram_mark(results.number(loss), answer["text"], "validation"),
                 results.spread(beside(cell)["validation_loss"], 3), results.cosine(cell["cosine"]["mean"]), mean("skipped", "{:.1f}"), mean("nonfinite", "{:.1f}"),
                 mean("programming_pulses", "{:.1e}"), mean("pulses", "{:.1e}"),
                 "–" if cell["array_energy"]["mean"] is None else f"{1e6 * cell['array_energy']['mean']:.1f} µJ",
                 f"{1e9 * heat:.1f} nJ" if heat else "–"])
body = results.table(rows) + ("\n\nNat per character, mean ± standard deviation over the seeds; skipped and not finite steps: "
                              "means. " + results.lines(answer["text"]))
results.write("device_training", [results.shown("sweep", CONFIG, []), results.shown("sweep", CONFIG, results.SAME_WAY, "ideal")], body, commits)
