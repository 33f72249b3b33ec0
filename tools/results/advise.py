#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which update rule for which device? Matrices of what every rule loses against exact numbers, as `nudge advise` ranks them, over devices, tasks, optimizers and levels of hardware.

Every rule is tuned alike: its rate (four values) and, where it has a fast array, its transfer rate (three), on seed 1; seeds 11 to 15 are tested. Names of tables as arguments make
these alone. The measured device is fitted to a record in ../shared/data/devices; without it and without the fit it is left out."""
import sys

import results

DIGITS = "examples/rules_digits.toml"
SHORT = ["train.steps=3", "compare.test_seeds=[11, 12]"]
# One pulse for all, so that heat can be compared: 1 V for 100 ns (chosen; heat goes with the square of the one and with the other).
PULSE = [f"device.pulse_{what}_{way}={value}" for what, value in (("voltage", "1 V"), ("width", "100 ns")) for way in ("up", "down")]
# beta and theta are one for all: the nudge that local hardware needs (results/results.md), the threshold of the published accumulator.
ALIKE = ["beta=0.5", "crossbar.threshold=1"]
RATES = ["compare.grid.train.learning_rate=[0.0125, 0.05, 0.2, 0.8]"]  # alone: transfer rates as the config has them
ADAM = ["train.optimizer=adam", "train.learning_rate=2e-3"]
SMALL = ["model.channels=32", "model.tokens=16", "model.memories=64"]


def states(n):
    """n mean pulses from bound to bound, written as well as half a pulse allows."""
    return ["device.model=soft_bounds", f"device.pulses={n}", f"crossbar.verify_tolerance={0.5 / n:g}"]


def preset(name):
    return (f"`{name}`", name, [f"device.preset={name}"])


def whole(name):
    """A preset over a config that has a device of its own, whose keys would win."""
    values = results.execute([results.PROGRAM, "config", "dump", DIGITS, "--set", f"device.preset={name}"]).split("\n[device]\n")[1].split("\n[")[0]
    own = dict(line.split(" = ", 1) for line in values.splitlines() if " = " in line)
    return (f"`{name}`", name, [f"device.preset={name}"] + [f"device.{key}={own[key]}" for key in ("model", "pulses")])


GONG = results.fitted("gong_soft_bounds.toml", ["gong_pulses.csv", "--window", "1 uS,25 uS", "--model", "soft_bounds"])
MEASURED = [("Gong et al., fitted", "gong", GONG)] if GONG else []
FEW = [(f"{n} states", f"states{n}", states(n)) for n in (4, 10, 16)]
ALL = [("`ideal`", "ideal", ["device.model=ideal"])] + [preset(p) for p in ("ecram", "capacitor", "reram_es", "reram_sb", "taox_hfox", "pcm_pulsed")] + FEW + MEASURED
WHOLE = [whole(p) for p in ("ecram", "reram_es", "taox_hfox")] + [FEW[1]] + MEASURED
SOME = [preset(p) for p in ("ecram", "reram_es", "taox_hfox")] + [FEW[1]] + MEASURED

# name: what it is, config, settings, devices
TABLES = {
    "digits": ("Digits, plain gradient descent with momentum", DIGITS, ALIKE, ALL),
    "adam": ("Digits, Adam", DIGITS, ALIKE + ADAM, ALL),
    "resistive": ("Digits, a resistive network of one device per resistor, Adam", "examples/resistive_devices.toml", ["train.steps=500"], SOME),
    "loops": ("Characters, a transformer of loops, Adam", "examples/imperfections_loops.toml", SMALL + ["train.steps=300"], WHOLE),
    "block": ("Characters, the founding block, Adam", "examples/imperfections_block.toml", SMALL + ["train.steps=200"], WHOLE),
    "local": ("Digits with nothing digital at a weight, plain gradient descent", DIGITS, ALIKE + RATES + ["hardware.level=local"], ALL),
    "nodes": ("Digits, ideal nodes, plain gradient descent with momentum", DIGITS, ALIKE + RATES + ["hardware.level=ideal"], ALL),
}
RULES = ["pulses", "coincidence", "write_verify", "accumulate", "one_sided", "residual", "tiki_taka", "ttv2", "c_ttv2", "agad", "multi_tile"]


def loss_cell(one):
    """What a rule loses, the half of its interval; bold: first, =: not told from the first, *: an end of a grid."""
    lost = one["lost"]
    if lost["failed"]:
        return f"{lost['failed']} of {lost['seeds']} failed"
    deviation = results.intervals.deviation_of(lost["high"] - lost["mean"], lost["seeds"], lost["comparisons"])
    text = results.intervals.held(lost["mean"], deviation, lost["seeds"], 3, half=True)
    text = f"**{text}**" if one is one["answer"]["ranking"][0] else text + (" =" if one["level"] else "")
    return text + (" *" if one["edges"] else "")


def count_cell(key):
    def cell(one):
        value = one[key]
        return "?" if value is None else "0" if value == 0 else f"{value:.1e}".replace("e+0", "e").replace("e-0", "e-")
    return cell


def matrix(devices, answers, cell, last=None):
    """A row per device, a column per rule that any of them can have."""
    rules = [rule for rule in RULES if any(rule in by_rule for by_rule in answers)]
    rows = [["device"] + [f"`{rule}`" for rule in rules] + ([last[0]] if last else [])]
    for (name, *_), by_rule in zip(devices, answers):
        rows.append([name] + [cell(by_rule[rule]) if rule in by_rule else "–" for rule in rules] + ([last[1](by_rule)] if last else []))
    return results.table(rows)


def frozen(by_rule):
    answer = next(iter(by_rule.values()))["answer"]
    cell = answer["frozen"]
    if cell["failed"]:
        return results.failed_rate(cell, lambda value: f"{value - answer['exact']['mean']:+.3f}")
    return f"{cell['mean'] - answer['exact']['mean']:+.3f}"


def make(name):
    title, config, settings, devices = TABLES[name]
    commits = results.noted(f"advise_{name}")
    answers = []
    for _, key, device in devices:
        answer = results.study("advise", config, f"advise_{name}_{key}", device + PULSE + settings, SHORT)
        answers.append({one["rule"]: one | {"answer": answer} for one in answer["ranking"]})
    body = f"**{title}.** Lost against exact numbers (test loss), seeds 11 to 15; `=`: not told from the first, for all pairs of rules of its row together:\n\n" + matrix(devices, answers, loss_cell, ("frozen", frozen))
    exact = {results.spread(by_rule[next(iter(by_rule))]["answer"]["exact"], 3) for by_rule in answers}
    body += f"\n\nExact numbers: {' or '.join(sorted(exact))}.\n\n"
    if name in ("digits", "adam", "resistive"):
        for what, key in (("Pulses of learning, all devices", "pulses"), ("Pulses of the device that had most, first writing included", "most_pulses"),
                          ("Reads of devices and columns", "reads"), ("Digital numbers per weight, optimizer and rule", "digital_numbers"),
                          ("Heat of these pulses and reads, J", "learning_energy_J")):
            digits = (lambda one: f"{one['digital_numbers']:g}") if key == "digital_numbers" else count_cell(key)
            body += f"{what}:\n\n" + matrix(devices if key != "digital_numbers" else devices[1:2], answers if key != "digital_numbers" else answers[1:2], digits) + "\n\n"
    elsewhere = [device for device in devices if device[1] != "gong"]
    shown = [results.shown("advise", config, device + PULSE + settings, f"{name}_{key}") for _, key, device in elsewhere[1:2]]
    results.write(f"advise_{name}", shown, body, commits, "results/rules.md")


for table in sys.argv[1:] or TABLES:
    make(table)
