# SPDX-License-Identifier: Apache-2.0
"""Numbers of trainable.py: what a cell loses, at which value a loss is reached, which presets the contours tell. No training is started here.

A loss is a share: the test loss above that of a baseline, over what exact numbers learn beyond the strongest null, paired by seed.
"""
import json
import math
import random
import statistics

import results

COLUMNS = ("study", "rule", "estimator", "cell", "seed", "status", "test_loss", "test_accuracy", "loss_slope")
BASE = "10000 0"  # states and asymmetry of `idealized`, as a cell of the grid
DRAWS = 4000
SPREADS = ("step_spread", "step_log_spread", "asymmetry_spread", "upper_bound_spread", "lower_bound_spread")
NOISE = 0.3  # of a pulse of `idealized`


def told(command):
    return json.loads(results.execute([results.PROGRAM, "devices", *command, "--json"]))


def learning_presets():
    """Presets that are pulsed: those of devices that are written once, or by a closed loop, say nothing of pulses."""
    return [one["name"] for one in told(["list"])["presets"] if told(["show", one["name"]])["update"] == "pulsed"]


def properties_of(preset):
    """States, asymmetry, noise of a pulse and of a write (share of the window) of a preset's mean device. States: pulses that cross the window,
    half of it up and half down; asymmetry: 1 - the shorter half over the longer."""
    values = {one["name"]: one["value"] for one in told(["show", preset])["parameters"]}
    mean = [word for key in SPREADS for word in ("--set", f"device.{key}=0")]
    halves = told(["characterize", preset, *mean, "--devices", "1", "--samples", "64", "--points", "50", "--cycles", "1"])["staircase"]
    up, down = halves["half_window_pulses_up"], halves["half_window_pulses_down"]
    return {"states": up + down, "asymmetry": 1 - min(up, down) / max(up, down), "pulse_noise": math.hypot(values["update_noise"], values["update_noise_floor"]),
            "write_noise": values["write_noise"] / values["pulses"]}


def add_seconds(name, seconds):
    """Processor time of the runs is kept over all starts, in results/NAME.seconds."""
    note = results.FOLDER / f"{name}.seconds"
    note.write_text(f"{seconds_of(name) + seconds:.1f}\n")


def seconds_of(name):
    note = results.FOLDER / f"{name}.seconds"
    return float(note.read_text()) if note.exists() else 0.0


def exported_points(out):
    return results.exported(results.FOLDER / f"{out}.h5")["points"]


def word(value):
    """A value of an axis as its cell has it, of an answer or of an exported file alike."""
    try:
        return f"{float(value):g}"
    except ValueError:
        return str(value)


def kept(points, keys, about):
    """Points as rows of COLUMNS; the cell is its values in the order of the axes."""
    number = lambda one: None if one in (None, "") else float(one)
    return [[about["study"], about["rule"], about["estimator"], " ".join(word(point[key]) for key in keys), int(point["seed"]), point["status"],
             number(point["test_loss"]), number(point["test_accuracy"]), number(point["loss_slope"])] for point in points]


class Losses:
    """Shares of all cells."""

    def __init__(self, points):
        self.cells, self.failed = {}, {}
        for study, rule, estimator, cell, seed, status, loss, *_ in points:
            # The tolerance of write-verify follows the states: it is no part of a cell's name.
            key = (study, rule, estimator, " ".join(cell.split(" ")[:2]) if study == "grid" else cell)
            self.cells.setdefault(key, {})
            if status == "ok":
                self.cells[key][seed] = loss
            else:
                self.failed[key] = self.failed.get(key, 0) + 1
        self.exact, self.null = self.of("exact", "", "ep", "digital"), self.of("linear", "", "ep", "digital")
        self.range = statistics.mean(self.null.values()) - statistics.mean(self.exact.values())

    def of(self, study, rule, estimator, cell):
        return self.cells.get((study, rule, estimator, cell), {})

    def shares(self, study, rule, estimator, cell, baseline=None):
        """Lost by seed, against the baseline: by default `idealized` of the same rule and estimator."""
        own, base = self.of(study, rule, estimator, cell), baseline or self.of("grid", rule, estimator, BASE)
        return [(own[seed] - base[seed]) / self.range for seed in own if seed in base]

    def names(self, study, rule, estimator):
        return [cell for one, its_rule, its_estimator, cell in self.cells if (one, its_rule, its_estimator) == (study, rule, estimator)]

    def deviation(self, rule, estimator):
        """Standard deviation of a share between seeds, of all cells of the rule that lose less than 30 % together; and its degrees of freedom."""
        squares, degrees = 0.0, 0
        for study, its_rule, its_estimator, cell in self.cells:
            own = self.shares(study, rule, estimator, cell) if (its_rule, its_estimator) == (rule, estimator) and study not in ("presets", "exact", "linear") else []
            if len(own) > 1 and abs(statistics.mean(own)) < 0.3:
                squares, degrees = squares + statistics.variance(own) * (len(own) - 1), degrees + len(own) - 1
        return (math.sqrt(squares / degrees), degrees) if degrees else (None, 0)


def rising(values):
    """The closest numbers that never fall (pool adjacent violators)."""
    blocks = []
    for value in values:
        blocks.append([value, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            last, n = blocks.pop()
            blocks[-1] = [(blocks[-1][0] * blocks[-1][1] + last * n) / (blocks[-1][1] + n), blocks[-1][1] + n]
    return [mean for mean, n in blocks for _ in range(n)]


def crossing(values, shares, level):
    """Rising value at which the rising shares reach a level, between two values that were tried by their logarithms; 0: below the first; infinite: beyond
    the last."""
    shares = rising(shares)
    if shares[0] >= level:
        return 0.0
    for k in range(1, len(values)):
        if shares[k] >= level:
            place = (level - shares[k - 1]) / (shares[k] - shares[k - 1])
            return values[k - 1] * (values[k] / values[k - 1]) ** place
    return math.inf


def threshold(values, by_value, deviation, level):
    """The crossing and its 95 % interval: means are drawn anew with the deviation between seeds, half of whose square is the baseline's, common to all."""
    means, sizes = [statistics.mean(own) for own in by_value], [len(own) for own in by_value]
    draw, single = random.Random(1), deviation / math.sqrt(2)
    found = []
    for _ in range(DRAWS):
        common = draw.gauss(0, single / math.sqrt(max(sizes)))
        found.append(crossing(values, [m + common + draw.gauss(0, single / math.sqrt(n)) for m, n in zip(means, sizes)], level))
    found.sort()
    return crossing(values, means, level), found[round(0.025 * DRAWS)], found[round(0.975 * DRAWS) - 1]


def reached(own, deviation, level, falls=False):
    """A threshold with its interval as text. Where an end lies outside what was tried, the other end alone is told. `falls`: values get worse as they get
    smaller."""
    values = [value for value, _ in own]
    mildest, worst = (max(values), min(values)) if falls else (min(values), max(values))
    number = lambda one: 1 / one if falls and one else one
    near, far = ("> {:g}", "< {:g}") if falls else ("< {:g}", "> {:g}")  # milder, and worse, than a value
    rounded = lambda one: float(f"{number(one):.2g}")
    middle, first, last = threshold([number(value) for value in values], [shares for _, shares in own], deviation, level)
    if first == 0 and math.isinf(last):
        return "not told"
    if first == 0:
        return near.format(mildest if last == 0 else rounded(last))
    if math.isinf(last):
        return far.format(worst if math.isinf(first) else rounded(first))
    low, high = sorted((rounded(first), rounded(last)))
    return f"{rounded(middle):g} [{low:g}, {high:g}]"


def series(losses, study, rule, estimator):
    """Values that were tried of a property, the mildest first, and the shares of each. Without those whose runs failed: their losses say nothing."""
    if study in ("states", "asymmetry"):
        at = 0 if study == "states" else 1
        cells = [cell for cell in losses.names("grid", rule, estimator) if cell != BASE and cell.split(" ")[1 - at] == BASE.split(" ")[1 - at]]
        own = [(float(cell.split(" ")[at]), losses.shares("grid", rule, estimator, cell)) for cell in cells]
    else:
        numbers = {cell: number_of(cell) for cell in losses.names(study, rule, estimator)}
        base = next((losses.of(study, rule, estimator, cell) for cell, number in numbers.items() if number == 0 and study == "symmetry"), None)
        own = [(number, losses.shares(study, rule, estimator, cell, base)) for cell, number in numbers.items() if number > 0]
    return sorted(((value, one) for value, one in own if len(one) > 1), key=lambda pair: -pair[0] if study in FALLS else pair[0])


FALLS = ("states", "leak")


def number_of(cell):
    """The number of a property's cell: that of its last axis."""
    last = cell.split(" ")
    return float(last[-2] if last[-1] == "s" else last[-1].removesuffix("s"))
