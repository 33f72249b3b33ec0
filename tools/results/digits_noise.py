#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which imperfection costs how much accuracy? One at a time, and the nudge against the noise, on the shipped digits."""
import results

CONFIG = "examples/digits_noise.toml"
NUDGE = "examples/digits_nudge.toml"
READS = "examples/digits_reads.toml"
BITS = "examples/digits_bits.toml"
IDEAL = results.SAME_READS + results.averages(3, 3)
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]"]


def imperfections():
    commits = results.noted("digits_noise")
    # Without the two imperfections that the first row has.
    without = IDEAL + ['sweep.grid.crossbar.transposed_gain_spread=[0, "5 %", "20 %"]', "sweep.grid.circuit.thermal_noise=[false]"]
    answer = results.study("sweep", CONFIG, "digits_noise", [], SHORT)
    ideal = results.study("sweep", CONFIG, "digits_noise_ideal", without, SHORT)
    results.write("digits_noise", [results.shown("sweep", CONFIG, []), results.shown("sweep", CONFIG, without, "ideal")],
                  results.imperfections(answer, ideal) + results.trivial(answer["reference"]), commits)


def nudges():
    commits = results.noted("digits_nudge")
    answer, ideal, frozen, commands = results.beside(NUDGE, "digits_nudge", SHORT, ideal=IDEAL, frozen=results.FROZEN)
    rows = [["beta", "read noise", "validation accuracy", "ideal nodes", "frozen devices", "cosine", "ideal nodes"]]
    for cell in answer["summary"]:
        rows.append([cell["beta"], f"{100 * float(cell['device.read_noise']):g} %"] +
                    [results.percent(one["validation_accuracy"]) for one in (cell, ideal(cell), frozen(cell))] +
                    [results.cosine(results.number(one["cosine"])) for one in (cell, ideal(cell))])
    body = results.table(rows) + "\n\nMean ± standard deviation over the seeds. "
    results.write("digits_nudge", commands, body + results.trivial(answer["reference"]), commits)


def reads():
    commits = results.noted("digits_reads")
    short = ["gradcheck.train_steps=2", "sweep.seeds=[11, 12]"]
    averaged = results.SAME_READS + results.averages(8, 12)
    answer, ideal, commands = results.beside(READS, "digits_reads", short, ideal=averaged)
    rows = [["reads of the nudged phases", "relative L2 of the gradient", "times the root of their number", "ideal nodes", "times the root",
             "cosine", "ideal nodes"]]
    for cell in answer["summary"]:
        rule = cell["reads.nudged"].strip('"')
        number = int(rule.split()[1]) if rule.startswith("mean") else 1
        row = [rule]
        for one in (cell, ideal(cell)):
            error = one["relative_l2"]
            row += [results.spread(error), "–" if error["mean"] is None else f"{error['mean'] * number ** 0.5:.3f}"]
        rows.append(row + [results.spread(one["cosine"]) for one in (cell, ideal(cell))])
    body = results.table(rows) + "\n\nMean ± standard deviation over the seeds, against the exact gradient of the same devices."
    results.write("digits_reads", commands, body, commits)


def bits():
    commits = results.noted("digits_bits")
    rows, shown = [["read-out", "pulses", "validation accuracy", "ideal nodes", "frozen devices", "cosine", "ideal nodes"]], []
    for width in (0, 6, 4) if not results.SHORT else (0, 4):
        settings = [f"crossbar.{way}_adc_bits={width}" for way in ("forward", "transposed")] if width else []
        answers = [results.study("sweep", BITS, f"digits_bits_{width}{name}", settings + more, SHORT)
                   for name, more in (("", []), ("_ideal", IDEAL), ("_frozen", results.FROZEN))]
        shown += [results.shown("sweep", BITS, settings + more, f"{name}{width}")
                  for name, more in (("bits", []), ("ideal", IDEAL), ("frozen", results.FROZEN))]
        for cells in zip(*(answer["summary"] for answer in answers)):
            rows.append([f"{width} bits" if width else "exact", cells[0]["device.pulses"]] +
                        [results.percent(one["validation_accuracy"]) for one in cells] +
                        [results.cosine(results.number(one["cosine"])) for one in cells[:2]])
    body = results.table(rows) + "\n\nMean ± standard deviation over the seeds. "
    results.write("digits_bits", shown, body + results.trivial(answers[0]["reference"]), commits)


imperfections()
nudges()
reads()
bits()
