#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does EP classify as well as backprop? A network of resistors on the shipped digits, tuned alike, fresh seeds, test part."""
import results

CONFIG = "examples/compare_resistive.toml"
SHORT = ["train.steps=5", "compare.tuning_seeds=[1]", "compare.test_seeds=[11, 12]", "compare.grid.beta=[0.5]",
         "compare.grid.train.learning_rate=[1e-3, 2e-3]"]


commits = results.noted("resistive")
answer = results.study("compare", CONFIG, "resistive", [], SHORT)
rows = [["entrant"] + answer["keys"] + ["seeds (failed)", "validation loss", "test loss", "validation accuracy", "test accuracy",
                                        "one run, 95 %", "difference, 95 %"]]
edge = False
for number, one in enumerate(answer["entrants"]):
    chosen = one["chosen"] or {}
    cells = []
    for key in answer["keys"]:
        outermost = key in one.get("edges", [])
        edge = edge or outermost
        cells.append(chosen.get(key, "–") + (" *" if outermost else ""))
    rows.append([f"`{one['name']}`"] + cells + [f"{one['runs']} ({one['failed']})", results.spread(one["validation_loss"]),
                                                results.spread(one["test_loss"]), results.percent(one["validation_accuracy"]),
                                                results.percent(one["test_accuracy"]), results.one_run(one),
                                                "baseline" if number == 0 else
                                                results.difference(one["difference_accuracy"], 100, 2)])
body = results.table(rows) + (
    "\n\nMean ± standard deviation over the fresh seeds; one run: what so many test samples say of one run's accuracy, binomial (Wilson); "
    f"differences of the test accuracy in percentage points, paired by seed, Student's t: {answer['intervals_hold']}. ")
body += results.trivial(answer["reference"])
if edge:
    body += "\n\n\\* an outermost value of the grid: the best may lie beyond it (beta means nothing to the backprop entrants)."
results.write("resistive", [results.shown("compare", CONFIG, [], "resistive")], body, commits)
