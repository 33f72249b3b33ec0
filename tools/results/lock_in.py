#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a chip pays for a gradient read by lock-ins, beside nudges that stand still; and small nudges under noise, as published for
holomorphic EP."""
import math
import statistics

import results

CONFIG = "examples/digits_lock_in.toml"
NUDGE = "examples/digits_nudge.toml"
SHORT = ["gradcheck.train_steps=2", "sweep.seeds=[11, 12]"]
STEP = -math.log(1 - 0.5)  # tau that a step of relaxation.step = 0.5 lasts (sim/read_timing.hpp)
SEEDS = (11, 12) if results.SHORT else (11, 12, 13)
STILL = (1, 16, 64) if results.SHORT else (1, 16, 64, 256)
# Nodes of 0.065 fF at 300 K: kT/C noise of .04 of the read voltage of 0.2 V, the activation noise of the published row.
NOISE = ["device.read_noise=0", "circuit.node_capacitance=0.065 fF", "relaxation.schedule=parallel", "relaxation.step=0.5",
         "relaxation.free_steps=30", "sweep.seeds=[11, 12, 13]", "train.steps=200"]
WAYS = [("one side, the last state", ["nudge.sides=positive", "relaxation.average_nudged=1", "relaxation.nudged_steps=20"]),
        ("both sides, the last state", ["relaxation.average_nudged=1", "relaxation.nudged_steps=20"]),
        ("both sides, mean of 60 states", ["relaxation.average_nudged=60", "relaxation.nudged_steps=75"]),
        ("lock-in, omega .2, 2 periods", ["nudge.form=oscillating", "nudge.frequency=0.2", "nudge.periods=2"])]


def mean(values, digits=4):
    return f"{statistics.mean(values):.{digits}f} ± {statistics.stdev(values):.{digits}f}"


def still_cosines(beta, states):
    """Of the gradient with the exact one, a seed each."""
    found = []
    for seed in SEEDS:
        settings = ["nudge.form=static", f"seed={seed}", f"beta={beta}", f"relaxation.average_nudged={states}",
                    f"relaxation.nudged_steps={24 + states}", 'gradcheck.estimators=["ep"]'] + (SHORT[:1] if results.SHORT else [])
        answer = results.check(CONFIG, f"lock_in_still_{beta}_{states}_{seed}", settings)
        found += [row["cosine"] for row in answer["rows"] if row["estimator"] == "ep" and row["group"] == "all"]
    return found


def prices():
    commits = results.noted("lock_in")
    answer = results.study("sweep", CONFIG, "lock_in", [], SHORT)
    rows = [["nudge", "beta", "listened to, tau", "in all, tau", "cosine"]]
    for cell in answer["summary"]:
        omega, periods = float(cell["nudge.frequency"]), int(cell["nudge.periods"])
        turn = round(2 * math.pi / (omega * STEP)) * STEP
        rows.append([f"swings, omega {omega:g}", cell["beta"], f"{periods * turn:.0f}", f"{(periods + 1) * turn:.0f}",
                     results.spread(cell["cosine"])])
    for beta in (0.03, 0.3):
        for states in STILL:
            rows.append(["stands still", beta, f"{2 * states * STEP:.0f}", f"{2 * (24 + states) * STEP:.0f}",
                         mean(still_cosines(beta, states))])
    still = ["nudge.form=static", "beta=0.3", "relaxation.average_nudged=64", "relaxation.nudged_steps=88", 'gradcheck.estimators=["ep"]']
    results.write("lock_in", [results.shown("sweep", CONFIG, []), results.shown("gradcheck", CONFIG, still)],
                  results.table(rows) + "\n\nMean ± standard deviation over the seeds, against the exact gradient of the same devices.", commits)


def small_nudges():
    commits = results.noted("lock_in_training")
    rows, shown = [["gradient", "beta", "validation accuracy", "frozen devices"]], []
    for at, (name, settings) in enumerate(WAYS):
        grid = ['sweep.grid.beta=[0.1, 0.4]', 'sweep.grid.device.read_noise=[0]']
        every = NOISE + settings + grid
        short = ["train.steps=5", "sweep.seeds=[11, 12]"]
        answer = results.study("sweep", NUDGE, f"lock_in_training_{at}", every, short)
        frozen = results.cells_beside(answer, results.study("sweep", NUDGE, f"lock_in_frozen_{at}", every + results.FROZEN, short))
        shown.append(results.shown("sweep", NUDGE, every, f"training_{at}"))
        for cell in answer["summary"]:
            rows.append([name, cell["beta"], results.percent(cell["validation_accuracy"]),
                         results.percent(frozen(cell)["validation_accuracy"])])
    results.write("lock_in_training", shown, results.table(rows) + "\n\nMean ± standard deviation over the seeds.", commits)


prices()
small_nudges()
