#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which imperfection costs a network of resistors how much accuracy? One at a time; then read noise that every read averages."""
import results

CONFIG = "examples/resistive_noise.toml"
AVERAGED, READS = "examples/resistive_reads.toml", 100
IDEAL = results.SAME_READS + results.averages(8, 12)
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]"]


def imperfections():
    commits = results.noted("resistive_noise")
    answer = results.study("sweep", CONFIG, "resistive_noise", [], SHORT)
    ideal = results.study("sweep", CONFIG, "resistive_noise_ideal", IDEAL, SHORT)
    results.write("resistive_noise", [results.shown("sweep", CONFIG, []), results.shown("sweep", CONFIG, IDEAL, "ideal")],
                  results.imperfections(answer, ideal) + results.trivial(answer["reference"]), commits)
    return answer, ideal


def reads(singles):
    commits = results.noted("resistive_reads")
    settings = [[], IDEAL, results.FROZEN]
    answers = [results.study("sweep", AVERAGED, f"resistive_reads{name}", more, SHORT)
               for name, more in zip(("", "_ideal", "_frozen"), settings)]
    rows = [["read noise", f"every read the mean of {READS}", f"one read, noise / {READS ** 0.5:g}", f"ideal nodes: mean of {READS}", "one read",
             f"frozen devices: mean of {READS}"]]
    for physical, ideal, frozen in zip(*(answer["summary"] for answer in answers)):
        noise = float(physical["device.read_noise"])
        alone = [next(c for c in single["summary"] if abs(float(c["device.read_noise"]) * READS ** 0.5 / noise - 1) < 1e-6) for single in singles]
        rows.append([f"{100 * noise:g} %"] + [results.percent(one["validation_accuracy"]) for one in (physical, alone[0], ideal, alone[1], frozen)])
    body = results.table(rows) + "\n\nValidation accuracy, mean ± standard deviation over the seeds."
    results.write("resistive_reads", [results.shown("sweep", AVERAGED, more, name)
                                      for more, name in zip(settings, ("", "ideal", "frozen"))], body, commits)


reads(imperfections())
