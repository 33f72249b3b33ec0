#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does EP learn as well as backprop? Tuned alike, fresh seeds, test part, paired intervals: parity.py, parity_large.py, transformer.py"""
import results

CONFIGS = {"parity": "examples/compare_parity.toml", "parity_large": "examples/compare_parity_large.toml",
           "transformer": "examples/compare_transformer.toml"}
SHORT = ["train.steps=2", "train.batch=2", "model.tokens=8", "train.evaluation_batches=1", "train.test_batches=1",
         "compare.tuning_seeds=[1]", "compare.test_seeds=[11, 12]", "compare.grid.train.learning_rate=[1e-3, 3e-3]"]


def main(name):
    config = CONFIGS[name]
    commits = results.noted(name)
    answer = results.study("compare", config, name, [results.TEXT], SHORT)
    rows = [["entrant"] + answer["keys"] + ["seeds (failed)", "validation loss", "test loss", "difference, 95 %",
                                            "skipped", "not finite"]]
    edge = False
    for number, one in enumerate(answer["entrants"]):
        cells = results.chosen_values(one, answer["keys"])
        edge = edge or any(cell.endswith(" *") for cell in cells)
        test = one["test_loss"]
        rows.append([f"`{one['name']}`"] + cells + [
            f"{one['runs']} ({one['failed']})", results.spread(one["validation_loss"]),
            results.spread(test) + results.unigram_mark(results.number(test), answer["text"], "test"),
            "baseline" if number == 0 else results.difference(one["difference"]), f"{one['skipped']:.0f}", f"{one['nonfinite']:.0f}"])
    body = results.table(rows) + "\n\nNat per character, mean ± standard deviation over the fresh seeds; " + (
        f"differences paired by seed: {answer['intervals_hold']}. ") + results.lines(answer["text"])
    if edge:
        body += "\n\n\\* an outermost value of the grid: the best may lie beyond it."
    results.write(name, [results.shown("compare", config, [results.TEXT])], body, commits)


if __name__ == "__main__":
    main("parity")
