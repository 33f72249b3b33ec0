#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What makes a device trainable? One property at a time around `idealized`, on the benchmark's letters.

    trainable.py            the short study: a small network, three seeds
    trainable.py full       the benchmark's own network and length, five seeds: some 800 runs, about a day of a core
    trainable.py --partial  the tables of what results/trainable_*.h5 hold, without a run

Killed, it goes on where it was. trainable_rows.py has the numbers; tools/docs/trainable_picture.py draws them. Environment, beside that of
results.py: LETTER (folder of LetterRecognition.rda, where r-cran-mlbench is not installed).
"""
import os
import resource
import sys

import results
import trainable_rows as rows
import trainable_tables as tables

CONFIG = "training/benchmark/hopfield.toml"  # the benchmark's: nothing of it is set otherwise but sizes, seeds and what SHARED says
# Ideal nodes and a window of eight times the first weights: what is lost is lost by the device. Every pulse is whole.
SHARED = ["hardware.level=ideal", "crossbar.headroom=8", "device.update=pulsed", "train.learning_rate=9e-3", "train.step_time=1 ms", "sweep.test=true", "sweep.mode=zip"]
SIZES = {"": ["hopfield.hidden=[32]", "train.steps=2000", "train.evaluate_every=end", "relaxation.free_steps=8", "relaxation.nudged_steps=4",
              "sweep.seeds=[11, 12, 13]"],
         "full": ["sweep.seeds=[11, 12, 13, 14, 15]"]}
SHORT = ["data.file=", "data.test_fraction=0.2", "hopfield.hidden=[8]", "train.steps=5", "sweep.seeds=[11, 12]"]
DEVICE = ["device.preset=idealized"]
DIGITAL = {"device.model": ["digital"]}
EXACT = {"exact": [], "linear": ["hopfield.hidden=[]"]}  # linear: the strongest null, trained alike without hidden nodes
ESTIMATORS = {"ep": [], "backprop": ["estimator=implicit"]}  # implicit: the gradient that backprop through the equilibrium has
RULES = ("pulses", "write_verify")
FEWER_SEEDS = {"": ["sweep.seeds=[11, 12]"], "full": []}  # where no value is told from the next one by itself

# Values of a property that are tried, beside that of `idealized`. A rule that stands more is tried with more.
STATES = {"pulses": [1000, 300, 100, 30], "write_verify": [100, 30, 10, 5]}
FEW_STATES = [10, 3]  # for pulses: beyond what anybody wants, but noisy presets count as such
ASYMMETRIES = [0.2, 0.4, 0.8]
PROPERTIES = {
    "update_noise": {"device.update_noise": [1, 3, 10, 30]},
    "write_noise": {"device.write_noise": [10, 30, 100, 300]},
    "spread": {f"device.{what}_spread": [0.6, 1.5] for what in ("step", "upper_bound", "lower_bound")},
    "curvature": {"device.model": ["linear_step"] * 3, **{f"device.linear_step.gamma_{way}": [0.3, 0.6, 1] for way in ("up", "down")}},
    "symmetry": {"device.model": ["soft_bounds_reference"] * 5, "device.soft_bounds_reference.symmetry_spread": [0, 0.05, 0.1, 0.2, 0.4]},
    "leak": {"device.leak_time": ["100 s", "10 s", "1 s", "0.1 s"]},
}


def tolerance(states):
    """Write-verify cannot come closer than half a pulse."""
    return max(0.01, 0.5 / states)


def grid(rule, estimator, states):
    """States and asymmetry: all combinations, under backprop each alone."""
    cells = [(n, a) for n in states for a in [0, *ASYMMETRIES] if estimator == "ep" or n == 10000 or a == 0]
    axes = {"device.pulses": [n for n, _ in cells], "device.asymmetry": [a for _, a in cells]}
    return axes | ({"crossbar.verify_tolerance": [tolerance(n) for n, _ in cells]} if rule == "write_verify" else {})


def folder():
    return [f"data.folder={os.environ['LETTER']}"] if "LETTER" in os.environ and not results.SHORT else []


def axes(values):
    word = lambda one: f'"{one}"' if isinstance(one, str) else f"{one:g}"
    return [f"sweep.grid.{key}=[{', '.join(map(word, column))}]" for key, column in values.items()]


class Study:
    def __init__(self, size, partial):
        self.size, self.partial, self.points, self.commands = size, partial, [], []
        self.name = "trainable_full" if size else "trainable"

    def sweep(self, name, settings, values, **about):
        """Measures cells; keeps their points with what they are of."""
        given = SIZES[self.size] + SHARED + [one for one in settings if one]
        own = given + axes(values)
        out = f"{self.name}_{name}"
        if self.partial and not (results.FOLDER / f"{out}.h5").exists():
            return
        self.commands.append(results.shown("sweep", CONFIG, own, out))
        points = rows.exported_points(out) if self.partial else self.timed(out, own + folder() + ["sweep.parallel=1"])
        self.points += rows.kept(points, list(values), about)

    def timed(self, out, settings):
        """Points of a sweep; its processor time is noted, also where it was interrupted."""
        used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        before = used()
        try:
            return results.study("sweep", CONFIG, out, settings, SHORT)["points"]
        finally:
            rows.add_seconds(self.name, used() - before)

    def grid(self, rule, estimator):
        fewer = FEWER_SEEDS[self.size]
        settings, about = DEVICE + [f"crossbar.update={rule}", *ESTIMATORS[estimator]], {"study": "grid", "rule": rule, "estimator": estimator}
        self.sweep(f"grid_{rule}_{estimator}", settings, grid(rule, estimator, [10000, *STATES[rule]]), **about)
        if rule == "pulses" and estimator == "ep":
            self.sweep("few_states", settings + fewer, grid(rule, estimator, FEW_STATES), **about)

    def measure(self):
        for name, settings in EXACT.items():
            self.sweep(name, settings, DIGITAL, study=name, rule="", estimator="ep")
        for rule in RULES:
            self.grid(rule, "ep")
        presets = {"device.preset": rows.learning_presets()}
        for rule in RULES:
            own = [f"crossbar.update={rule}", *FEWER_SEEDS[self.size]]
            self.sweep(f"presets_{rule}", own, presets, study="presets", rule=rule, estimator="ep")
            for name, values in PROPERTIES.items():
                self.sweep(f"{name}_{rule}", DEVICE + own, values, study=name, rule=rule, estimator="ep")
            if rule == "pulses":
                self.grid(rule, "backprop")


def main(arguments):
    size = "full" if "full" in arguments else ""
    commits = results.noted("trainable_full" if size else "trainable")
    study = Study(size, "--partial" in arguments)
    study.measure()
    tables.save(study, commits)


if __name__ == "__main__":
    main(sys.argv[1:])
