#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it takes to train the founding note's block, and what each addition to its own recipe buys."""
import results

CONFIG = "examples/founding_note.toml"
SHORT = ["train.steps=5", "sweep.seeds=[1]"]
ROWS = ["everything: transposed, W_m bounded, outliers skipped, runaways left out, growth penalty", "without the growth penalty",
        "without skipping and leaving out", "without the bound of W_m", "anchored in place of transposed", "correction at z*, neither anchored nor transposed",
        "the same, clipped at 1", "the note: correction at z*, clipped, damping regulated, nothing else", "backprop, everything", "backprop, nothing of it"]


commits = results.noted("founding_note")
answer = results.study("sweep", CONFIG, "founding_note", [], SHORT)
rows = [["recipe", "validation loss, nat", "what was left out had bought, nat (paired)", "runs that failed", "steps skipped", "not finite", "residual at the end"]]
whole = None
for name, cell in zip(ROWS, answer["summary"]):
    own = results.by_seed(answer, cell)
    rows.append([name, results.spread(cell["validation_loss"], 3), results.paired_by_seed(own, whole or {}), f"{cell['failed']} of {cell['failed'] + cell['runs']}",
                 *(results.mean_of(cell, key, form) for key, form in (("skipped", "{:.1f}"), ("nonfinite", "{:.1f}"), ("residual", "{:.1e}")))])
    if whole is None or name == "backprop, everything":
        whole = own
body = results.table(rows) + "\n\n" + ("Validation cross-entropy, mean ± standard deviation over the seeds; bought: what the row has over the first (backprop: over backprop with "
                                       "everything), paired by seed. A run is refused where its free phase is no equilibrium. ") + results.lines(answer.get("text"))
results.write("founding_note", [results.shown("sweep", CONFIG, [])], body, commits)
