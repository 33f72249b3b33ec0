#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small nudges under noise, as published for holomorphic EP: what one state, a mean and a lock-in learn from, frozen devices beside them."""
import results

CONFIG = "examples/digits_nudge.toml"
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]"]
# Nodes of 0.065 fF at 300 K: kT/C noise of .04 of the read voltage of 0.2 V, the activation noise of the published row.
NOISE = ["circuit.node_capacitance=0.065 fF", "relaxation.schedule=parallel", "relaxation.step=0.5", "relaxation.free_steps=30",
         "sweep.grid.beta=[0.1, 0.4]", "sweep.grid.device.read_noise=[0]"]
WAYS = [("one side, the last state", ["nudge.sides=positive", "relaxation.average_nudged=1", "relaxation.nudged_steps=20"]),
        ("both sides, the last state", ["relaxation.average_nudged=1", "relaxation.nudged_steps=20"]),
        ("both sides, mean of 60 states", ["relaxation.average_nudged=60", "relaxation.nudged_steps=75"]),
        ("lock-in, omega .2, 2 periods", ["nudge.form=oscillating", "nudge.frequency=0.2", "nudge.periods=2"])]

commits = results.noted("lock_in_training")
rows, shown = [["gradient", "beta", "validation accuracy", "frozen devices", "cosine"]], []
for at, (name, settings) in enumerate(WAYS):
    answer = results.study("sweep", CONFIG, f"lock_in_training_{at}", NOISE + settings, SHORT)
    frozen = results.cells_beside(answer, results.study("sweep", CONFIG, f"lock_in_frozen_{at}", NOISE + settings + results.FROZEN, SHORT))
    shown += [results.shown("sweep", CONFIG, NOISE + settings + more, f"{out}_{at}") for out, more in (("training", []), ("frozen", results.FROZEN))]
    rows += [[name, cell["beta"], results.percent(cell["validation_accuracy"]), results.percent(frozen(cell)["validation_accuracy"]),
              results.cosine(results.number(cell["cosine"]))] for cell in answer["summary"]]
results.write("lock_in_training", shown, results.table(rows) + "\n\nMean ± standard deviation over the seeds; frozen: the same network, whose "
              "devices never learn; cosine: the last gradient's with the exact one, all equilibrium parameters. " +
              results.trivial(answer["reference"]), commits)
