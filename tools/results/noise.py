#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which imperfection hurts training first? Static programming error against fresh read noise."""
import results

CONFIG = "examples/sweep_noise.toml"
SHORT = ["train.steps=3", "sweep.seeds=[1]"]

commits = results.noted("noise")
answer, ideal, frozen, commands = results.beside(CONFIG, "noise", SHORT, ideal=results.SAME_WAY, frozen=results.FROZEN)
rows = [["programming error", "read noise", "runs (failed)", "validation loss", "ideal nodes", "frozen devices", "cosine",
         "cosine, ideal nodes", "residual", "skipped"]]
for cell in answer["summary"]:
    loss = cell["validation_loss"]
    rows.append([f"{100 * float(cell['device.programming_error']):g} %", f"{100 * float(cell['device.read_noise']):g} %",
                 f"{cell['runs']} ({cell['failed']})",
                 results.spread(loss, 3) + results.unigram_mark(results.number(loss), answer["text"], "validation"),
                 results.spread(ideal(cell)["validation_loss"], 3), results.spread(frozen(cell)["validation_loss"], 3),
                 results.spread(cell["cosine"], 3), results.spread(ideal(cell)["cosine"], 3),
                 results.mean_of(cell, "residual", "{:.1e}"), results.mean_of(cell, "skipped", "{:.1f}")])
body = results.table(rows) + "\n\nMean ± standard deviation over the seeds, or the median of all with those that failed ranked worst; nat per character. " + results.lines(answer["text"])
results.write("noise", commands, body, commits)
