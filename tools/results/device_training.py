#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does EP train on published devices? Pulses in place, and write-verify."""
import results

CONFIG = "examples/device_training.toml"
SHORT = ["data.text=", "train.steps=1", "train.batch=1", "model.tokens=8", "train.evaluation_batches=1", "sweep.seeds=[11, 12]",
         'sweep.grid.device.preset=["idealized", "taox_hfox"]']

commits = results.noted("device_training")
answer, beside, commands = results.beside(CONFIG, "device_training", SHORT, ideal=results.SAME_WAY)
rows = [["preset", "update", "runs (failed)", "validation loss", "ideal nodes", "cosine", "skipped", "not finite", "pulses of programming",
         "pulses of learning", "heat of a step: reads", "heat of a step: pulses"]]
for cell in answer["summary"]:
    loss = cell["validation_loss"]
    heat = cell["write_energy"]["mean"]
    rows.append([f"`{cell['device.preset']}`", results.update_name(cell), f"{cell['runs']} ({cell['failed']})",
                 results.spread(loss, 3) + results.unigram_mark(results.number(loss), answer["text"], "validation"),
                 results.spread(beside(cell)["validation_loss"], 3), results.cosine(cell["cosine"]["mean"]), results.mean_of(cell, "skipped", "{:.1f}"), results.mean_of(cell, "nonfinite", "{:.1f}"),
                 results.mean_of(cell, "programming_pulses", "{:.1e}"), results.mean_of(cell, "pulses", "{:.1e}"),
                 results.mean_of(cell, "array_energy", "{:.1f} µJ", 1e6),
                 f"{1e9 * heat:.1f} nJ" if heat else "–"])
body = results.table(rows) + ("\n\nNat per character, mean ± standard deviation over the seeds; skipped and not finite steps: "
                              "means. " + results.lines(answer["text"]))
results.write("device_training", commands, body, commits)
