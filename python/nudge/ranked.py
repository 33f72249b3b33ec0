# SPDX-License-Identifier: Apache-2.0
"""What each value of a swept key does to a result: the numbers of the report's ranked effects."""

import math

import numpy as np

from . import _core
from .errors import InputError

__all__ = ["Effect", "cell", "effects", "results_of"]


def cell(values, result):
    """(number, failed) of the runs of one cell: their mean, or where runs failed, which are infinite values, the median over all with
    the failed ranked worst; NaN where that is one of them, or nothing was measured (NaN)."""
    return _core.cell(np.asarray(values, float).tolist(), result)


class Effect:
    """What one value of a swept key does to a result.

    - key, start, value: the key moved from ``start`` to ``value``.
    - among: ``"estimator = ep"`` where the points of every estimator are compared by themselves; else empty.
    - mean, low, high: mean difference over ``seeds`` seeds, and its 95 % interval (infinite for one seed). The interval holds for all ``comparisons`` effects that
      were looked at together. All three are NaN where a run failed.
    - failed, won, lost: seeds with a failed run; seeds that became better and worse. A failed run is worse than any other.
    - certain: whether the interval excludes 0. Where runs failed or all differences are equal: whether the sign test says so at that level.
    """

    def __init__(self, found, start, value):
        self.key, self.start, self.value, self.among = found.key, start, value, found.among
        for name in ("seeds", "failed", "mean", "low", "high", "won", "lost", "comparisons"):
            setattr(self, name, getattr(found.difference, name))
        #: Whether the interval leaves out 0; where runs failed or all differences are equal, whether the sign test says so at that level.
        self.certain = found.difference.certain()

    def __repr__(self):
        key = self.key + (f" ({self.among})" if self.among else "")
        if self.failed:
            return (f"<{key}: {self.start} -> {self.value}: a run failed with {self.failed} of {self.seeds} seeds, "
                    f"{self.won} better, {self.lost} worse>")
        return f"<{key}: {self.start} -> {self.value}: {self.mean:+.4g} [{self.low:.4g}, {self.high:.4g}], {self.seeds} seeds>"


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
        worst = -math.inf if _core.higher_is_better(name) else math.inf
        points[name] = points[name].where(~failed, worst).where(~invalid)
    return points, keys, results


def effects(run, result=None):
    """Ranks the effects of all values of all keys of a sweep on ``result``, and returns a list of ``Effect``, the largest first.

    ``result`` is by default the first result that the file names. The report looks at that, and at the validation loss beside an accuracy.
    A value is compared with the first value of its key, in ``one_at_a_time`` with the config's. The points compared have the same seed and
    differ in this key alone. The mean over such pairs is one number per seed. The interval is Student's over seeds, for all effects
    together (Bonferroni): those that the report looks at, and those on ``result``. Points of several estimators have effects for each.

    An effect with a failed run comes first. Pairs that failed at both ends are left out.
    """
    points, keys, results = results_of(run)
    result = result or results[0]
    if result not in results:
        raise InputError(f"no result {result!r} (the sweep has: {', '.join(results)})")
    columns = {key: points[key].values for key in keys}
    found = _core.key_effects(keys, [[str(one) for one in columns[key]] for key in keys], points.seed.values.tolist(),
                              [(name, points[name].values.tolist()) for name in results], result)
    return [Effect(one, columns[one.key][0], columns[one.key][one.point]) for one in found[0]]
