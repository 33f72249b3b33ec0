#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attention without anything digital at a weight: the founding block without its memory on characters, at the levels of hardware, by plain gradient descent. Rates of 0.05 and
0.2 were tried at the local level on seed 1: 0.2 is better, and at 0.05 the first free phases need 52 steps."""
import results

CONFIG = "examples/shakespeare_small.toml"
SHORT = ["train.steps=3", "sweep.seeds=[11, 12]"]
PLAIN = ['sweep.grid.device.preset=["ecram"]', "data.text=", "beta=0.1", "relaxation.free_steps=60", "model.channels=48", "model.memories=0", "model.tokens=16", "train.optimizer=sgd",
         "train.momentum=0", "train.gradient_clip=off", "train.learning_rate=0.2", "train.steps=1500", "train.evaluate_every=end", "train.cosine_every=0", "sweep.seeds=[11, 12, 13]"]
LOCAL = ["hardware.level=local"]
CELLS = ["attention.gain_spread=8 %", "attention.offset_spread=0.32"]
ROWS = (("mixed, no momentum", []),
        ("local", LOCAL),
        ("local, attention by numbers", LOCAL + ["attention.products=digital"]),
        ("local, cells of attention four times as different", LOCAL + CELLS),
        ("frozen", LOCAL + results.FROZEN))


def main():
    commits = results.noted("local_block")
    answers = [results.study("sweep", CONFIG, f"local_block_{i}", PLAIN + settings, SHORT) for i, (_, settings) in enumerate(ROWS)]
    losses = [results.by_seed(answer, {}) for answer in answers]
    rows = [["level", "runs (failed)", "validation loss", "against local"]]
    for (name, _), answer, own in zip(ROWS, answers, losses):
        cell = answer["summary"][0]
        against = "–" if own is losses[1] else results.paired_by_seed(own, losses[1], 4)
        rows.append([name, f"{cell['runs']} ({cell['failed']})", results.spread(cell["validation_loss"]), against])
    shown = [results.shown("sweep", CONFIG, PLAIN + settings, f"local_block_{i}") for i, (_, settings) in enumerate(ROWS)]
    results.write("local_block", shown, results.table(rows) + "\n\nNat per character, mean ± standard deviation; against local: paired by seed. " +
                  results.lines(answers[0]["text"]), commits)


if __name__ == "__main__":
    main()
