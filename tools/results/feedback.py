#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the stability of a transformer with feedback ends, and what the growth penalty buys."""
import results

CONFIG = "examples/sweep_feedback.toml"
SHORT = ["train.steps=2", "train.batch=2", "train.evaluation_batches=1", "sweep.seeds=[1, 2]", "sweep.grid.transformer.feedback=[0, 0.2]"]

commits = results.noted("feedback")
answer = results.study("sweep", CONFIG, "feedback", [], SHORT)
rows = [["κ", "growth penalty", "runs (failed)", "validation loss", "residual of the free phase", "skipped", "not finite"]]
for cell in answer["summary"]:
    loss = cell["validation_loss"]
    rows.append([str(cell["transformer.feedback"]), str(cell["growth.strength"]), f"{cell['runs']} ({cell['failed']})",
                 results.spread(loss, 3) + results.unigram_mark(results.number(loss), answer["text"], "validation"),
                 results.mean_of(cell, "residual", "{:.1e}"), results.mean_of(cell, "skipped", "{:.1f}"), results.mean_of(cell, "nonfinite", "{:.1f}")])
body = results.table(rows) + "\n\nNat per character, mean ± standard deviation over the seeds. " + results.lines(answer["text"])
results.write("feedback", [results.shown("sweep", CONFIG, [])], body, commits)
