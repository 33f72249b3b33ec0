#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a latent per token does to a small decoder of text, at five kappa, beside the decoder without one."""
import math

import results

CONFIG = "examples/latent_text.toml"
SHORT = ["train.steps=5", "train.evaluate_every=5", "sweep.seeds=[1]"]
KAPPA = ["sweep.grid.latent.free_bits=[0.25, 0.5, 1, 2, 4]", results.TEXT]
DECODER = ["network.kind=sequence_model", results.TEXT]
RATE = "train.learning_rate"


def best(answer, value, where=lambda cell: True):
    """The cell with the least mean of a value of its points: the rate is chosen for each alike."""
    cells = [(sum(v.values()) / len(v), cell) for cell in answer["summary"] if where(cell) for v in [results.by_seed(answer, cell, value)] if v]
    return min(cells, key=lambda one: one[0])[1]


def mean(by_seed):
    return results.mean_deviation(by_seed.values(), 3)


def bound(point):
    return point["validation_loss"] + math.log(2) * point["information"]


commits = results.noted("latent_text")
decoder = results.study("sweep", CONFIG, "latent_text_decoder", DECODER, SHORT)
latent = results.study("sweep", CONFIG, "latent_text", KAPPA, SHORT)
plain = best(decoder, "validation_loss")
losses = results.by_seed(decoder, plain)
rows = [["κ, bit a token", "rate", "loss given Z, nat", "information, bit", "loss + information: bound of the text's", "bound less the decoder's (paired)"],
        ["decoder without Z", plain[RATE], mean(losses), "–", mean(losses), "–"]]
for kappa in sorted({float(c["latent.free_bits"]) for c in latent["summary"]}):
    cell = best(latent, bound, lambda c: float(c["latent.free_bits"]) == kappa)
    bounds = results.by_seed(latent, cell, bound)
    rows.append([f"{kappa:g}", cell[RATE], mean(results.by_seed(latent, cell)), mean(results.by_seed(latent, cell, "information")),
                 mean(bounds), results.paired_by_seed(bounds, losses)])
body = results.table(rows) + "\n\n" + ("Validation part, mean ± standard deviation over three seeds, at the rate of two with the lower bound, chosen alike for every row. "
                                       + results.lines(latent.get("text")))
results.write("latent_text", [results.shown("sweep", CONFIG, KAPPA), results.shown("sweep", CONFIG, DECODER, "decoder")], body, commits, "results/experiments.md")

# What the paper's baselines save: 12 heads of queries to 2 of keys and values, and in the small one the table of tokens for the read-out.
SAVING = DECODER + ["sweep.grid.mixer.key_value_heads=[4, 2, 1]", "sweep.grid.sequence.tied=[false, true]"]
saving = results.study("sweep", CONFIG, "latent_text_saving", SAVING, SHORT)
rows = [["keys and values, read-out", "rate", "weights", "loss, nat", "against the first (paired)"]]
first = None
for tied, heads in ((t, h) for t in ("false", "true") for h in (4, 2, 1)):
    cell = best(saving, "validation_loss", lambda c: str(c["sequence.tied"]).lower() == tied and float(c["mixer.key_value_heads"]) == heads)
    own = results.by_seed(saving, cell)
    first = first or own
    # Two blocks of 64 channels: queries and output, keys and values of so many heads of 16, a gated part of 192, norms; table and read-out of 65 symbols.
    weights = 2 * (2 * 64 * 64 + 2 * 64 * 16 * heads + 3 * 64 * 192 + 2 * 64) + 65 * 64 * (1 if tied == "true" else 2) + 64
    rows.append([f"{heads} of 4 heads, {'own' if tied == 'false' else 'tied'}", cell[RATE], f"{weights:g}", mean(own),
                 "–" if own is first else results.paired_by_seed(own, first)])
results.write("grouped_text", [results.shown("sweep", CONFIG, SAVING, "saving")],
              results.table(rows) + "\n\nValidation part, three seeds, at the better rate of two.", commits, "results/experiments.md")
