# SPDX-License-Identifier: Apache-2.0
"""What each value of a swept key does to a result: the numbers of the report's ranked effects."""

import math

import numpy as np

from .errors import InputError

__all__ = ["Effect", "effects", "results_of", "student_t"]


def student_t(degrees, share=0.95):
    """The t with P(|T| <= t) = share for a whole number of degrees of freedom; infinite for none. With φ = atan(t/√n) the
    probability is a finite sum of powers of cos φ (Abramowitz and Stegun 26.7.3, 26.7.4); bisection over φ."""
    if degrees < 1:
        return math.inf

    def probability(angle):
        sine, cosine = math.sin(angle), math.cos(angle)
        if degrees % 2 == 0:
            terms, first, begin = 1.0, 1.0, 1
        else:
            terms, first, begin = cosine if degrees > 1 else 0.0, cosine, 2
        for k in range(begin, degrees - 2, 2):
            first *= k / (k + 1) * cosine ** 2
            terms += first
        return sine * terms if degrees % 2 == 0 else 2 / math.pi * (angle + sine * terms)

    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if probability(middle) < share else (low, middle)
    return math.sqrt(degrees) * math.tan(0.5 * (low + high))


class Effect:
    """``key`` moved from ``start`` to ``value``: ``mean`` difference of the result, its 95 % interval ``low``, ``high`` over
    ``seeds`` seeds (infinite for one)."""

    def __init__(self, key, start, value, differences):
        n = len(differences)
        self.key, self.start, self.value, self.seeds = key, start, value, n
        self.mean = float(np.mean(differences))
        half = student_t(n - 1) * float(np.std(differences, ddof=1)) / math.sqrt(n) if n > 1 else math.inf
        self.low, self.high = self.mean - half, self.mean + half

    @property
    def certain(self):
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0

    def __repr__(self):
        return f"<{self.key}: {self.start} -> {self.value}: {self.mean:+.4g} [{self.low:.4g}, {self.high:.4g}], {self.seeds} seeds>"


def results_of(run):
    """(points, keys, results) of a sweep: the Dataset, and what its file says is swept and measured. A result of a run that failed
    is NaN."""
    points = run["points"] if "points" in run.groups else None
    if points is None:
        raise InputError(f"not a sweep: {run!r}")
    keys, results = (points.attrs[name].split(", ") for name in ("keys", "results"))
    failed = points.status.values != "ok"
    for name in results:
        points[name] = points[name].where(~failed)
    return points, keys, results


def effects(run, result=None):
    """Effects of all values of all keys of a sweep on ``result`` (by default the first that the file names), the largest first.

    A value is compared with the first of its key (in ``one_at_a_time`` the config's) between points of one seed that differ in this
    key alone; the mean over such pairs is one number per seed, and the interval is Student's over seeds.
    """
    points, keys, results = results_of(run)
    result = result or results[0]
    if result not in results:
        raise InputError(f"no result {result!r} (the sweep has: {', '.join(results)})")
    columns = {key: points[key].values for key in keys}
    seeds, values = points.seed.values, points[result].values
    out = []
    for key in keys:
        place = [(seed, *(columns[other][i] for other in keys if other != key)) for i, seed in enumerate(seeds)]
        first = columns[key][0]
        start = {place[i]: values[i] for i in range(len(values)) if columns[key][i] == first}
        for value in dict.fromkeys(columns[key]):
            if value == first:
                continue
            by_seed = {}
            for i in np.flatnonzero(columns[key] == value):
                difference = values[i] - start.get(place[i], math.nan)
                if math.isfinite(difference):
                    by_seed.setdefault(seeds[i], []).append(difference)
            if by_seed:
                out.append(Effect(key, first, value, [float(np.mean(one)) for one in by_seed.values()]))
    return sorted(out, key=lambda effect: -abs(effect.mean))
