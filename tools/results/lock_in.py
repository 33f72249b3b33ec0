#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a chip pays for a gradient read by lock-ins, beside nudges that stand still."""
import math
import re
import statistics

import results

CONFIG = "examples/digits_lock_in.toml"
SHORT = ["sweep.seeds=[11, 12]"]
STEP = -math.log(1 - 0.5)  # tau that a step of relaxation.step = 0.5 lasts (sim/read_timing.hpp)
BETAS = (0.03, 0.3)
SEEDS = (11, 12) if results.SHORT else (11, 12, 13)
STILL = (1, 16, 64, 256)
WANTED = 0.99
NULL = 1e-5  # a nudge that moves the nodes by a thousandth of their noise
# What disturbs the nodes beside what the physical level has. 1/f noise: one process per decade from 100 ns (4 tau) on; those of up to
# circuit.noise_within_phases, 10 us or 400 tau, move within the phases.
STEPS = ["gradcheck.train_steps=5"]  # of training, whose phases are those that are measured: most of the time
ONE_OMEGA = ["sweep.grid.nudge.frequency=[0.2]"]
CASES = [("physics as it is by default", STEPS),
         ("1/f noise of the devices, 1 %", STEPS + ["device.flicker_noise=1 %", "device.flicker_fastest=100 ns"]),
         ("offsets of 10 mV", STEPS + ONE_OMEGA + ["crossbar.forward_offset=10 mV", "circuit.hold_offset=10 mV"])]


def mean(values):
    return results.mean_deviation(values, 4)


def checked(settings):
    """Cosines of all equilibrium parameters with the exact gradient, a seed each."""
    found = []
    for seed in SEEDS:
        own = settings + [f"seed={seed}", 'gradcheck.estimators=["ep"]']
        answer = results.check(CONFIG, "lock_in_" + re.sub(r"\W+", "_", " ".join(own)), own)
        found += [row["cosine"] for row in answer["rows"] if row["estimator"] == "ep" and row["group"] == "all"]
    return found


def still(beta, states):
    return ["nudge.form=static", f"beta={beta}", f"relaxation.average_nudged={states}", f"relaxation.nudged_steps={24 + states}"]


def swinging(beta, omega, periods):
    return [f"beta={beta}", f"nudge.frequency={omega}", f"nudge.periods={periods}"]


def measured(at, settings):
    """Points of one case: way, beta, tau in all, mean cosine."""
    points = []
    for cell in results.study("sweep", CONFIG, f"lock_in_{at}", settings + [f"sweep.grid.beta={list(BETAS)}"], SHORT)["summary"]:
        omega, periods = float(cell["nudge.frequency"]), int(cell["nudge.periods"])
        turn = round(2 * math.pi / (omega * STEP)) * STEP
        points.append((f"omega {omega:g}", float(cell["beta"]), (periods + 1) * turn, results.number(cell["cosine"])))
    for beta in BETAS:
        for states in STILL:
            points.append(("stands still", beta, 2 * (24 + states) * STEP, statistics.mean(checked(settings + still(beta, states)))))
    return points


def price(points):
    """Least time in all at which the mean cosine is as wanted, or the best one that was reached, with its time."""
    known = [(cosine, total) for _, _, total, cosine in points if cosine is not None]
    if not known:
        return "–"
    enough = [total for cosine, total in known if cosine >= WANTED]
    best, total = max(known)
    return f"{min(enough):.0f}" if enough else f"– ({best:.4f} in {total:.0f})"


def prices():
    commits = results.noted("lock_in")
    rows, shown, picture = [["disturbed by", "nudge"] + [f"beta {beta:g}" for beta in BETAS]], [], {}
    for at, (name, settings) in enumerate(CASES):
        points = measured(at, settings)
        picture[name] = points
        for way in dict.fromkeys(way for way, *_ in points):
            rows.append([name, way] + [price([p for p in points if p[:2] == (way, beta)]) for beta in BETAS])
        for way, nothing in (("omega 0.2, 4 periods", swinging(NULL, 0.2, 4)), ("stands still, mean of 64", still(NULL, 64))):
            rows.append([name, f"null, beta {NULL:g}: {way}", "cosine " + mean(checked(settings + nothing)), ""])
        shown.append(results.shown("sweep", CONFIG, settings + [f"sweep.grid.beta={list(BETAS)}"], f"lock_in_{at}"))
    shown.append(results.shown("gradcheck", CONFIG, STEPS + still(0.03, 64) + ["seed=11", 'gradcheck.estimators=["ep"]']))
    results.write("lock_in", shown, results.table(rows) +
                  f"\n\nTime in all, in tau (settling, and both phases of nudges that stand still), from which the mean cosine of three seeds with "
                  f"the exact gradient of the same devices is {WANTED}; in brackets the best that was reached.", commits, data=picture)


prices()
