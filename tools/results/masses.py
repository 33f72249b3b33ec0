#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When does a network with masses settle in fewer steps? Steps to a residual of 1e-4 by Euler and at several frictions, as networks begin to learn."""
import csv
import shutil
import statistics

import results

NETWORKS = {"digits, one hidden layer": ("examples/digits.toml", []),
            "digits, four hidden layers of 64": ("examples/digits.toml", ["hopfield.hidden=[64, 64, 64, 64]"]),
            "resistive network": ("examples/resistive.toml", []),
            "oscillators": ("examples/oscillator.toml", ["relaxation.step_fraction=0.3"])}
SAME = ["train.steps=40", "train.evaluate_every=end", "train.null=off", "relaxation.schedule=parallel", "relaxation.tolerance=1e-4",
        "relaxation.free_steps=5000", "relaxation.step=auto"]
FRICTIONS = ("4", "2", "1", "0.5", "0.25")
SEEDS = (11, 12) if results.SHORT else (11, 12, 13, 14, 15)
LAST = 10  # steps of training whose phases are counted


def steps(name, config, settings):
    """Mean steps of the free phase over the last steps of a training, for each seed."""
    found = []
    for seed in SEEDS:
        run = results.FOLDER / f"masses_{name}_{seed}.h5"
        if not run.exists():
            words = [word for s in settings + [f"seed={seed}"] for word in ("--set", s)]
            results.execute([results.PROGRAM, "train", config, "--out", str(run)] + words)
        folder = run.with_suffix(".csv")
        shutil.rmtree(folder, ignore_errors=True)
        results.execute([results.PROGRAM, "export", str(run), "--csv", str(folder)])
        with open(folder / "train.csv", newline="") as file:
            found.append(statistics.mean(float(row["steps_used"]) for row in list(csv.DictReader(file))[-LAST:]))
        shutil.rmtree(folder)
    return results.mean_deviation(found, 1)


def main():
    commits = results.noted("masses")
    rows = [["network", "Euler"] + [f"Γ = {friction}" for friction in FRICTIONS]]
    short = ["train.steps=3"] if results.SHORT else []
    for number, (name, (config, more)) in enumerate(NETWORKS.items()):
        row = [name, steps(f"{number}_euler", config, SAME + more + ["relaxation.solver=euler"] + short)]
        for friction in FRICTIONS:
            second = ["relaxation.solver=second_order", f"relaxation.friction=[{friction}]"]
            row.append(steps(f"{number}_{friction}", config, SAME + more + second + short))
        rows.append(row)
    body = results.table(rows) + ("\n\nSteps of the free phase until |F|/|z| ≤ 1e-4, M = 1, each with its own stable step: mean ± standard deviation over the seeds, "
                                  f"over the last {LAST} of 40 steps of training. ")
    second = SAME + ["relaxation.solver=second_order", "relaxation.friction=[0.5]"]
    results.write("masses", [results.shown("train", "examples/digits.toml", second)], body, commits, document="results/networks.md")


main()
