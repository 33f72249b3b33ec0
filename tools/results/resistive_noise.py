#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which imperfection costs a network of resistors how much accuracy? One at a time; then read noise that every read averages."""
import results

CONFIG = "examples/resistive_noise.toml"
AVERAGED, READS = "examples/resistive_reads.toml", 100
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]"]


def imperfections():
    commits = results.noted("resistive_noise")
    answer = results.study("sweep", CONFIG, "resistive_noise", [], SHORT)
    results.write("resistive_noise", [results.shown("sweep", CONFIG, [])],
                  results.imperfections(answer) + results.trivial(answer["reference"]), commits)
    return answer


def reads(single):
    commits = results.noted("resistive_reads")
    answer = results.study("sweep", AVERAGED, "resistive_reads", [], SHORT)
    alone = {float(cell["device.read_noise"]): cell for cell in single["summary"]}
    rows = [["read noise", f"every read the mean of {READS}", f"one read, noise / {READS ** 0.5:g}"]]
    for cell in answer["summary"]:
        noise = float(cell["device.read_noise"])
        beside = next(c for n, c in alone.items() if abs(n * READS ** 0.5 / noise - 1) < 1e-6)
        rows.append([f"{100 * noise:g} %", results.percent(cell["validation_accuracy"]), results.percent(beside["validation_accuracy"])])
    body = results.table(rows) + "\n\nValidation accuracy, mean ± standard deviation over the seeds."
    results.write("resistive_reads", [results.shown("sweep", AVERAGED, [])], body, commits)


reads(imperfections())
