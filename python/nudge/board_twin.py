# SPDX-License-Identifier: Apache-2.0
"""A chip beside its equations: calibration from known inputs, and a twin that says when the chip leaves it."""

import copy
import math
import statistics

import numpy as np

from .board_response import NudgeWatch
from .board_simulated import two_way, weights_of
from .dynamics import Nudge, newton
from .errors import InputError, NumericalError

__all__ = ["Calibration", "Twin", "calibrate", "student_quantile"]


def student_quantile(p, df):
    """Quantile of Student's t (Abramowitz and Stegun 26.7.5, to df⁻⁴): within 0.1 % at p = 0.975 from 6 degrees of freedom on."""
    x = statistics.NormalDist().inv_cdf(p)
    terms = ((x**3 + x) / 4, (5 * x**5 + 16 * x**3 + 3 * x) / 96, (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
             (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160)
    return x + sum(term / df ** (k + 1) for k, term in enumerate(terms))


class Lines:
    """Sums of pairs (p, y) per unit, from which straight lines y = a + b p are fitted."""

    def __init__(self, p=None, y=None):
        self.n, self.sums = 0, 0.0
        if p is not None:
            self.n, self.sums = len(p), np.stack([p.sum(0), y.sum(0), (p * p).sum(0), (p * y).sum(0), (y * y).sum(0)])

    def __add__(self, other):
        out = Lines()
        out.n, out.sums = self.n + other.n, self.sums + other.sums
        return out

    def fit(self):
        """(a, b, sum of squares left, sum of squares of p about its mean) per unit; b = 0 where p does not vary."""
        p, y, pp, py, yy = self.sums
        vp, vpy, vy = pp - p * p / self.n, py - p * y / self.n, yy - y * y / self.n
        varies = vp > 1e-12 * np.maximum(pp, 1e-300)
        b = np.where(varies, vpy / np.where(varies, vp, 1), 0.0)
        return (y - b * p) / self.n, b, np.maximum(vy - b * vpy, 0), np.where(varies, vp, 0)


class Calibration:
    """Gain and offset of every unit's readings, and the gain of the transposed path, with intervals: what ``calibrate`` returns.

    - gain, offset (cols,); gain_interval, offset_interval (cols, 2).
    - back, back_interval: gain of the transposed path over that of the law. NaN: not asked for, or the law has no transposed path.
    - noise (cols,): standard deviation of a reading about its line.
    """

    def __init__(self, gain, offset, noise, back, back_interval, half_gain, half_offset, confidence):
        self.gain, self.offset, self.noise, self.back, self.back_interval, self.confidence = gain, offset, noise, back, back_interval, confidence
        self.gain_interval = np.stack([gain - half_gain, gain + half_gain], axis=1)
        self.offset_interval = np.stack([offset - half_offset, offset + half_offset], axis=1)

    def state(self, readings):
        """Returns the states (rows, cols) that readings stand for: (readings − offset)/gain."""
        return (np.asarray(readings) - self.offset) / self.gain

    def __repr__(self):
        back = "" if math.isnan(self.back) else f", transposed gain {self.back:.4f} [{self.back_interval[0]:.4f}, {self.back_interval[1]:.4f}]"
        return (f"<Calibration of {len(self.gain)} units: gains {self.gain.min():.4f} to {self.gain.max():.4f}, offsets {self.offset.min():+.4f} to "
                f"{self.offset.max():+.4f}, noise {np.sqrt(np.mean(self.noise**2)):.2g}{back} ({100 * self.confidence:g} %)>")


def _law_at(law, board, x, conductances, back=1.0):
    """The law at the board's weights, with inputs x and a transposed path of gain ``back``."""
    out = copy.copy(law)
    out._board, out.rows, out.input = None, len(x), np.asarray(x, np.float64)
    out.parameters = {name: two_way(value, back) for name, value in {**weights_of(board, law, conductances), **board.numbers}.items()}
    return out


def calibrate(board, law, inputs, beta=0.1, confidence=0.95, seed=1):
    """Measures a board at known inputs, and returns a ``Calibration``: how its readings differ from the states of its law.

    Readings y of free phases follow y = offset + gain z with the states z of the law at the conductances that ``read`` returns. Least squares give
    gain and offset of every unit, with Student's intervals. Random currents ±β at the outputs move the other units through the transposed path. Its
    gain is what brings the law's answers to the measured ones, with an interval from the scatter of the answers (White's estimator) and from the
    errors of the gains.

    The intervals hold for readings of settled states: what is missing of the way there is not noise.

    - inputs: (n, features), 20 or more. They should move every unit.
    - beta: size of the currents, in units of the state per τ. 0: no transposed gain.
    - confidence: of each interval by itself.

    InputError for fewer inputs, and for a board that ignores the currents. NumericalError where the law has no equilibrium or a reading is not finite.
    """
    x = np.asarray(inputs, np.float64)
    if x.ndim != 2 or len(x) < 20:
        raise InputError(f"calibrate: inputs of shape {x.shape} (must be at least 20 rows of features)")
    begin, end = law._output_columns()
    inner = np.r_[0:begin, end:law.cols]
    conductances, shape = board.read(), (len(x), law.cols)
    push = beta * np.random.default_rng(seed).choice([-1.0, 1.0], (len(x), end - begin))
    asked = [None] + [Nudge(sign * push) for sign in (1, -1)] * bool(beta and inner.size)
    readings = [np.asarray(board.settle(x, nudge), np.float64) for nudge in asked]
    for one in readings:
        if one.shape != shape or not np.isfinite(one).all():
            raise NumericalError(f"calibrate: the board measured the shape {one.shape} with {np.sum(~np.isfinite(one))} numbers that are not finite "
                                 f"(must be {shape})")
    back, half_back = 1.0, math.nan
    settled = np.ones(len(x), bool)

    def states(gain_of_path):
        """The law's states beside every reading, with that gain of its transposed path; rows without an equilibrium leave `settled`."""
        own, found = _law_at(law, board, x, conductances, gain_of_path), []
        for nudge, reading in zip(asked, readings):
            z, there = newton(own, reading, nudge)
            settled[~there] = False
            found.append(z)
        return found

    def answers(some):
        return (some[1] - some[2])[settled][:, inner] / 2

    at = states(back)
    if len(asked) > 1:
        NudgeWatch(board).look((at[1] - at[2])[settled], (readings[1] - readings[2])[settled], NudgeWatch.lines)
    for _ in range(4 * (len(asked) > 1)):  # Gauss–Newton on one number; gains are those of the free phase at the present one
        above, below = states(back + 1e-3), states(back - 1e-3)
        _, gain, squares, spread = (one[inner] for one in Lines(at[0][settled], readings[0][settled]).fit())
        slope = gain * (answers(above) - answers(below)) / 2e-3
        if not (settled.any() and np.abs(slope).max() > 1e-9 * beta):
            back = math.nan
            break
        left = answers(readings) - gain * answers(at)
        back += np.sum(slope * left) / np.sum(slope**2)
        of_gain = squares / np.maximum(spread, 1e-300) / settled.sum() * np.sum(slope * answers(at), axis=0) ** 2
        half_back = np.sqrt(np.sum((slope * left) ** 2) + np.sum(of_gain)) / np.sum(slope**2)
        at = states(back)
    if settled.sum() < 20:
        raise NumericalError(f"calibrate: the law has an equilibrium near the readings of {settled.sum()} of {len(x)} inputs (must be 20 or more)")
    lines = Lines(at[0][settled], readings[0][settled])
    offset, gain, squares, spread = lines.fit()
    df = lines.n - 2
    noise, t = np.sqrt(squares / df), student_quantile(0.5 + confidence / 2, df)
    mean = lines.sums[0] / lines.n
    half_gain = t * noise / np.sqrt(np.maximum(spread, 1e-300))
    half_offset = t * noise * np.sqrt(1 / lines.n + mean**2 / np.maximum(spread, 1e-300))
    z = statistics.NormalDist().inv_cdf(0.5 + confidence / 2)
    return Calibration(gain, offset, noise, back, (back - z * half_back, back + z * half_back), half_gain, half_offset, confidence)


class Twin:
    """Watches a board while it learns: the law, at the weights that the board reads, says what free phases should measure.

    Readings are taken as y = a + b z per unit, with the states z of the law (its equilibrium, by Newton's method). The lines are fitted to the run's
    own readings, and go on with them. Every window of new readings is compared with all before by Chow's test of equal lines, per unit:

        F = (SS_both − SS_before − SS_new)/2 / ((SS_before + SS_new)/(n_before + n_new − 4))

    Test k has the level false_alarms · 6/(π² k²) over all units together (Bonferroni). So a chip whose readings scatter normally about lines that
    stand still is called wrongly with a probability of at most ``false_alarms`` in a run of any length. The chip has left the twin where a test is
    significant and that unit's line has moved by ``least`` of the rms state. Then ``board.left`` is called, once.

    - every: looks at one free phase in so many.
    - first: readings of a unit from which the lines are fitted first.
    - window: readings in a test.
    - back: gain of the chip's transposed path over that of the law, as ``calibrate`` finds it.

    A line takes gain and offset, but not a wrong transposed gain or a reading before the states have settled. With these the lines move as the
    weights learn, and the chip leaves the twin. A resumed run fits its lines anew. The law costs cols products J v for each step of Newton's method.
    """

    def __init__(self, every=4, first=256, window=128, false_alarms=0.01, least=0.02, back=1.0):
        if not (every >= 1 and first >= 8 and window >= 4 and 0 < false_alarms < 1 and least >= 0):
            raise InputError(f"Twin: every = {every}, first = {first}, window = {window}, false_alarms = {false_alarms}, least = {least} (must be 1 or "
                             "more, 8 or more, 4 or more, a probability, 0 or more)")
        self.every, self.first, self.window, self.false_alarms, self.least, self.back = every, first, window, false_alarms, least, float(back)
        self.begin()

    def begin(self):
        """Forgets what it has seen."""
        self.before, self.new, self.looks, self.tests, self.failed = Lines(), [], 0, 0, 0
        self.at = None  # settle number, unit, shift

    def look(self, law, readings, settle=0):
        """Takes the readings of a free phase (rows, cols) of a law with its present input and parameters. Returns True where the chip leaves the twin, once."""
        self.looks += 1
        if self.at is not None or (self.looks - 1) % self.every:
            return False
        if self.back != 1:
            law = copy.copy(law)
            law.parameters = {name: two_way(value, self.back) for name, value in law.parameters.items()}
        z, found = newton(law, readings)
        self.failed += int(np.sum(~found))
        self.new.append((z[found], readings[found]))
        count = sum(len(one) for one, _ in self.new)
        if count < (self.first if self.before.n == 0 else self.window):
            return False
        lines = Lines(*(np.concatenate(some) for some in zip(*self.new)))
        self.new = []
        left = self.before.n > 0 and self._test(lines, settle)
        if not left:
            self.before = self.before + lines
        return left

    def _test(self, lines, settle):
        self.tests += 1
        (a, b, own, _), (c, d, other, _) = self.before.fit(), lines.fit()
        df = self.before.n + lines.n - 4
        inside = np.maximum((own + other) / df, 1e-300)
        f = np.maximum((self.before + lines).fit()[2] - own - other, 0) / 2 / inside
        p = (1 + 2 * f / df) ** (-df / 2)  # P(F > f) for 2 and df degrees of freedom
        level = self.false_alarms * 6 / (math.pi**2 * self.tests**2) / len(p)
        mean, square = self.before.sums[0] / self.before.n, self.before.sums[2] / self.before.n
        shift = np.sqrt(np.maximum((c - a) ** 2 + 2 * (c - a) * (d - b) * mean + (d - b) ** 2 * square, 0))
        scale = np.sqrt(np.mean(self.before.sums[4]) / self.before.n)
        found = (p < level) & (shift > self.least * scale)
        if not found.any():
            return False
        unit = int(np.argmin(np.where(found, p, 2)))
        self.at = {"settle": settle, "unit": unit, "shift": float(shift[unit] / scale), "p": float(p[unit])}
        return True

    def report(self):
        """{"verdict", "left", "at", "readings", "tests", "false_alarms", "gain", "offset", "noise"}: lists per unit; None while there are too few readings."""
        out = {"left": self.at is not None, "at": self.at, "readings": self.before.n, "tests": self.tests, "false_alarms": self.false_alarms,
               "gain": None, "offset": None, "noise": None}
        if self.before.n:
            a, b, squares, _ = self.before.fit()
            out.update(gain=b.tolist(), offset=a.tolist(), noise=np.sqrt(squares / (self.before.n - 2)).tolist())
        if self.at is not None:
            out["verdict"] = (f"at settle {self.at['settle']} the line of unit {self.at['unit']} had moved by {100 * self.at['shift']:.2g} % of the rms state "
                              f"(p = {self.at['p']:.1g}; {100 * self.false_alarms:g} % false alarms in a run). Calibrate again")
        elif self.tests:
            out["verdict"] = f"the chip stayed with its twin in {self.tests} tests ({100 * self.false_alarms:g} % false alarms in a run)"
        else:
            out["verdict"] = f"no test: {sum(len(z) for z, _ in self.new)} readings were looked at (the first fit takes {self.first}, a test {self.window})"
        return out
