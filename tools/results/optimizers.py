#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is attention with momentum faster, and what do the second-order steps lose? Figure 1 of "Transformers as Intrinsic Optimizers" at four small
sizes: the mixers of each size see the same batches, so their differences are paired by seed."""
import results

CONFIG = "examples/characters.toml"
MIXERS = ["mha", "momen", "nag", "light2nd1st", "mha2nd1st", "mha2nd1st_nov"]
SIZES = [32, 64, 96, 128]
SHORT = ["train.steps=5", "train.evaluate_every=5", "sweep.seeds=[1]", "model.channels=32"]
SETTINGS = ["sweep.grid.sequence.mixer=[" + ", ".join(f'"{m}"' for m in MIXERS) + "]", "sweep.seeds=[1, 2, 3]", "train.steps=400",
            "train.evaluate_every=200", results.TEXT, "data.validation_fraction=0.1", "data.test_fraction=0"]

commits = results.noted("optimizers")
rows = [["C", "weights of `mha`", "`mha`, nat"] + [f"`{m}` less `mha`" for m in MIXERS[1:]]]
for size in SIZES:
    answer = results.study("sweep", CONFIG, f"optimizers_{size}", SETTINGS + [f"model.channels={size}"], SHORT)
    losses = {m: results.by_seed(answer, {"sequence.mixer": m}) for m in MIXERS}
    cell = next(c for c in answer["summary"] if c["sequence.mixer"] == "mha")
    # Per block 4 C^2 of the mixer and 3 C of the gated part of 8/3 C up to a multiple of 32, norms; the table of 65 symbols and the read-out.
    inner = (8 * size // 3 + 31) // 32 * 32
    weights = 2 * (4 * size * size + 3 * size * inner + 2 * size) + 2 * 65 * size + size
    rows.append([str(size), str(weights), results.spread(cell["validation_loss"], 3)] +
                [results.paired_by_seed(losses[m], losses["mha"]) for m in MIXERS[1:]])
body = results.table(rows) + "\n\nValidation part of tinyshakespeare, 400 steps of 32 windows of 64 characters, one rate, three seeds; below 0: better than `mha`."
results.write("optimizers", [results.shown("sweep", CONFIG, SETTINGS + ["model.channels=N"], "optimizers")], body, commits, "results/experiments.md")
