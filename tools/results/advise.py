#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which update rule for which device, as `nudge advise` ranks them: published devices and devices of few states with a digital learning rule and with none. Every rule is tuned alike (its
rate, four values, on seed 1); seeds 11 to 13 are ranked by the test part."""
import results

CONFIG = "examples/rules_digits.toml"
# beta, theta and the transfers are one for all: the nudge that local hardware needs (docs/results.md), the threshold of the published accumulator.
ALIKE = ["beta=0.5", "crossbar.threshold=1"]
SHORT = ["train.steps=3", "compare.test_seeds=[11, 12]"]


def states(n):
    """n mean pulses from bound to bound, written as well as half a pulse allows."""
    return ["device.model=soft_bounds", f"device.pulses={n}", f"crossbar.verify_tolerance={0.5 / n:g}"]


DEVICES = [(f"`{p}`", [f"device.preset={p}"]) for p in ("capacitor", "pcm_pulsed")]
DEVICES += [(f"{n} states", states(n)) for n in (4, 10, 16)]
DEVICES += [("`reram_es`", ["device.preset=reram_es"])]
LEVELS = ("mixed", "local")


def interval(d):
    """A difference of an advice with its interval; of failed pairs there is none."""
    return f"{d['failed']} of {d['seeds']} failed" if d["failed"] else f"{d['mean']:+.4f} [{d['low']:+.4f}, {d['high']:+.4f}]"


def beyond(frozen, exact):
    """What frozen devices lose in the mean, or the rate of those that do not settle."""
    if frozen["failed"]:
        return results.failed_rate(frozen, lambda value: f"{value - exact['mean']:+.4f}")
    return f"{frozen['mean'] - exact['mean']:+.4f}"


def count(value):
    return "–" if not value else f"{value:.1e}"


def rate(one):
    """The chosen rate; a star where it is an outermost one of its grid."""
    key = "train.learning_rate"
    return one["chosen"][key] + (" *" if key in one["edges"] else "")


def settings_of(device, level):
    return device + ALIKE + ([f"hardware.level={level}"] if level != "mixed" else [])


def rows_of(name, of_level):
    """The rules of a device in the order of the mixed level, those that only others have behind."""
    by_rule = {level: {one["rule"]: one for one in answer["ranking"]} for level, answer in of_level.items()}
    rows = []
    for rule in dict.fromkeys(rule for found in by_rule.values() for rule in found):
        lost = [interval(by_rule[level][rule]["lost"]) if rule in by_rule[level] else "refused" for level in LEVELS]
        one = by_rule["mixed"].get(rule)
        place = "–" if one is None else "=" if one["level"] else "behind"
        counts = [count(one[key]) if one else "–" for key in ("pulses", "reads")]
        rows.append([name, f"`{rule}`", place, rate(one) if one else "–", *lost, *counts])
    frozen = [beyond(of_level[level]["frozen"], of_level[level]["exact"]) for level in LEVELS]
    return rows + [[name, "none: frozen", "", "–", *frozen, "–", "–"]]


commits = results.noted("advise")
answers = {}
for level in LEVELS:
    for at, (name, device) in enumerate(DEVICES):
        answers[at, level] = results.study("advise", CONFIG, f"advise_{at}_{level}", settings_of(device, level), SHORT)
table = [["device", "rule", "", "rate", *[f"lost against exact numbers, {level}" for level in LEVELS], "pulses", "reads"]]
for at, (name, _) in enumerate(DEVICES):
    table += rows_of(name, {level: answers[at, level] for level in LEVELS})
shown = [results.shown("advise", CONFIG, settings_of(DEVICES[at][1], level), f"advise_{at}") for at, level in ((0, "mixed"), (2, "mixed"), (1, "local"))]
exact = results.spread(answers[0, "mixed"]["exact"])
results.write("advise", shown, results.table(table) + "\n\nTest loss, seeds 11 to 13, 500 steps: paired differences with their 95 % t interval; =: the seeds do not tell the rule "
              f"from the first of its device at the mixed level; exact numbers, with momentum at every level: {exact}. Rate, pulses and reads (of devices and of "
              "columns) are those of the mixed level. \\*: an outermost value of the grid.", commits)
