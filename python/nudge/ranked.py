# SPDX-License-Identifier: Apache-2.0
"""What each value of a swept key does to a result: the numbers of the report's ranked effects."""

import math

import numpy as np

from .errors import InputError

__all__ = ["Effect", "cell", "effects", "results_of", "sign_test", "student_t"]


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


def sign_test(won, lost):
    """Two-sided p value: how often fair coins give at least as uneven a split; 1 without a coin."""
    n = won + lost
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(min(won, lost) + 1)) / 2 ** n) if n else 1.0


def higher_is_better(result):
    return result.endswith(("accuracy", "cosine", "agreement"))


def cell(values, result):
    """(number, failed) of the runs of one cell: their mean, or where runs failed, which are infinite values, the median over all with
    the failed ranked worst; NaN where that is one of them, or nothing was measured (NaN)."""
    values = np.asarray(values, float)
    values = values[~np.isnan(values)]
    failed = int(np.isinf(values).sum())
    if values.size == 0:
        return math.nan, 0
    if failed == 0:
        return float(values.mean()), 0
    ranked = np.sort(np.where(np.isinf(values), -math.inf if higher_is_better(result) else math.inf, values))
    low, high = ranked[(ranked.size - 1) // 2], ranked[ranked.size // 2]
    return (float(0.5 * (low + high)) if np.isfinite([low, high]).all() else math.nan), failed


class Effect:
    """``key`` moved from ``start`` to ``value``: ``mean`` difference of the result, its 95 % interval ``low``, ``high`` over
    ``seeds`` seeds (infinite for one). Where a run of ``failed`` of them failed these are NaN: what is left to say is that ``won`` seeds
    became better and ``lost`` worse, a run that failed being worse than any other."""

    def __init__(self, key, start, value, pairs, result):
        n = len(pairs)
        self.key, self.start, self.value, self.seeds = key, start, value, n
        before, after = (np.asarray(end, float) for end in zip(*pairs))
        sign = 1 if higher_is_better(result) else -1
        rank = [np.where(np.isinf(end), -math.inf, sign * end) for end in (before, after)]
        self.won, self.lost = int((rank[1] > rank[0]).sum()), int((rank[1] < rank[0]).sum())
        self.failed = int((np.isinf(before) | np.isinf(after)).sum())
        if self.failed:
            self.mean = self.low = self.high = math.nan
            return
        differences = after - before
        self.mean = float(np.mean(differences))
        half = student_t(n - 1) * float(np.std(differences, ddof=1)) / math.sqrt(n) if n > 1 else math.inf
        self.low, self.high = self.mean - half, self.mean + half

    @property
    def certain(self):
        """Whether the interval leaves out 0; where runs failed, whether the sign test says so at that level."""
        if self.failed:
            return sign_test(self.won, self.lost) < 0.05
        return self.low > 0 or self.high < 0

    def __repr__(self):
        if self.failed:
            return (f"<{self.key}: {self.start} -> {self.value}: a run failed with {self.failed} of {self.seeds} seeds, "
                    f"{self.won} better, {self.lost} worse>")
        return f"<{self.key}: {self.start} -> {self.value}: {self.mean:+.4g} [{self.low:.4g}, {self.high:.4g}], {self.seeds} seeds>"


def results_of(run):
    """(points, keys, results) of a sweep: the Dataset, and what its file says is swept and measured. A result of a run that failed
    is infinite on its worse side; one that was not run (its values break a rule) has none, NaN."""
    points = run["points"] if "points" in run.groups else None
    if points is None:
        raise InputError(f"not a sweep: {run!r}")
    keys, results = (points.attrs[name].split(", ") for name in ("keys", "results"))
    status = points.status.values.astype(str)
    failed, invalid = status != "ok", np.char.startswith(status, "invalid: ")
    for name in results:
        worst = -math.inf if higher_is_better(name) else math.inf
        points[name] = points[name].where(~failed, worst).where(~invalid)
    return points, keys, results


def effects(run, result=None):
    """Effects of all values of all keys of a sweep on ``result`` (by default the first that the file names), the largest first.

    A value is compared with the first of its key (in ``one_at_a_time`` the config's) between points of one seed that differ in this
    key alone; the mean over such pairs is one number per seed, and the interval is Student's over seeds. A run that failed is worse than
    any other: an effect with one comes first. Pairs that failed at both ends tell nothing.
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
                pair = (start.get(place[i], math.nan), values[i])
                if not np.isnan(pair).any() and not np.isinf(pair).all():
                    by_seed.setdefault(seeds[i], []).append(pair)
            if by_seed:  # of a seed the mean, infinite where one of its pairs failed at that end
                ends = [tuple(float(np.mean(end)) for end in zip(*one)) for one in by_seed.values()]
                out.append(Effect(key, first, value, ends, result))
    return sorted(out, key=lambda effect: -math.inf if effect.failed else -abs(effect.mean))
