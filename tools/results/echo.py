#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does an echo lose by friction, by a clock that is off, and by the noise of reads? Beside backprop through time, at two nudges."""
import results

CONFIG = "examples/sweep_echo.toml"
SHORT = ["gradcheck.train_steps=2", "sweep.seeds=[11, 12]", "sweep.grid.nudge.clock_error=[0, 0.1]", "sweep.grid.relaxation.friction=[[0], [0.3]]",
         'sweep.grid.device.read_noise=[0, "1 %"]']
NUDGES = ("0.1", "1")


def main():
    commits = results.noted("echo")
    answers = [results.study("sweep", CONFIG, f"echo_{beta}", [f"beta={beta}"], SHORT) for beta in NUDGES]
    rows = [["imperfection"] + [f"beta = {beta}: {what}" for beta in NUDGES for what in ("cosine", "relative L2")]]
    for cells in zip(*(answer["summary"] for answer in answers)):
        changed = ", ".join(f"`{key}` = {value}" for key, value in results.changes(answers[0], cells[0]).items())
        row = [changed or "none"]
        for cell in cells:
            row += [results.cosine(results.number(cell["cosine"])), results.spread(cell["relative_l2"])]
        rows.append(row)
    body = results.table(rows) + "\n\nMean over five seeds, relative L2 ± standard deviation, after 50 steps of training. A nudge alone costs the first row. "
    results.write("echo", [results.shown("sweep", CONFIG, [f"beta={beta}"]) for beta in NUDGES], body, commits, document="results/networks.md")


main()
