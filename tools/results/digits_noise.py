#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which imperfection costs how much accuracy? One at a time, and the nudge against the noise, on the shipped digits."""
import results

CONFIG = "examples/digits_noise.toml"
NUDGE = "examples/digits_nudge.toml"
READS = "examples/digits_reads.toml"
BITS = "examples/digits_bits.toml"
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]"]


def imperfections():
    commits = results.noted("digits_noise")
    answer = results.study("sweep", CONFIG, "digits_noise", [], SHORT)
    results.write("digits_noise", [results.shown("sweep", CONFIG, [])],
                  results.imperfections(answer) + results.trivial(answer["reference"]), commits)


def nudges():
    commits = results.noted("digits_nudge")
    answer = results.study("sweep", NUDGE, "digits_nudge", [], SHORT)
    noises = list(dict.fromkeys(cell["device.read_noise"] for cell in answer["summary"]))
    rows = [["beta"] + [f"read noise {100 * float(n):g} %" for n in noises]]
    for beta in dict.fromkeys(cell["beta"] for cell in answer["summary"]):
        row = [beta]
        for noise in noises:
            cell = next(c for c in answer["summary"] if c["beta"] == beta and c["device.read_noise"] == noise)
            row.append(f"{results.percent(cell['validation_accuracy'])} (cosine {results.cosine(results.number(cell['cosine']))})")
        rows.append(row)
    body = results.table(rows) + "\n\nValidation accuracy, mean ± standard deviation over the seeds. "
    results.write("digits_nudge", [results.shown("sweep", NUDGE, [])], body + results.trivial(answer["reference"]), commits)


def reads():
    commits = results.noted("digits_reads")
    answer = results.study("sweep", READS, "digits_reads", [], ["gradcheck.train_steps=2", "sweep.seeds=[11, 12]"])
    rows = [["reads of the nudged phases", "relative L2 of the gradient", "times the root of their number", "cosine"]]
    for cell in answer["summary"]:
        rule = cell["reads.nudged"].strip('"')
        number = int(rule.split()[1]) if rule.startswith("mean") else 1
        error = cell["relative_l2"]
        rows.append([rule, results.spread(error), "–" if error["mean"] is None else f"{error['mean'] * number ** 0.5:.3f}", results.spread(cell["cosine"])])
    body = results.table(rows) + "\n\nMean ± standard deviation over the seeds, against the exact gradient of the same devices."
    results.write("digits_reads", [results.shown("sweep", READS, [])], body, commits)


def bits():
    commits = results.noted("digits_bits")
    rows, shown = [], []
    for width in (0, 6, 4) if not results.SHORT else (0, 4):
        settings = [f"crossbar.{way}_adc_bits={width}" for way in ("forward", "transposed")] if width else []
        answer = results.study("sweep", BITS, f"digits_bits_{width}", settings, SHORT)
        shown.append(results.shown("sweep", BITS, settings, f"bits{width}"))
        if not rows:
            rows.append(["read-out"] + [f"{cell['device.pulses']} pulses" for cell in answer["summary"]])
        rows.append([f"{width} bits" if width else "exact"] +
                    [results.percent(cell["validation_accuracy"]) for cell in answer["summary"]])
    body = results.table(rows) + "\n\nValidation accuracy, mean ± standard deviation over the seeds. "
    results.write("digits_bits", shown, body + results.trivial(answer["reference"]), commits)


imperfections()
nudges()
reads()
bits()
