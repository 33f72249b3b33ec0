# SPDX-License-Identifier: Apache-2.0
"""Simultaneous intervals of the tables: all differences of a table hold together with 95 % (Bonferroni; Dunn, J. Am. Stat. Assoc. 56 (1961) 52).

The mean of n paired differences with standard deviation s has the interval mean ± t(1 − 0.05/2m, n − 1) s/√n, with m the number of intervals of
its table, as in training/compare/paired.hpp. A cell of a results file holds mean, s and n as text: "{{-0.0081 ± 0.0012 of 3, 4 digits}}", with
"half" in front where the table shows "mean ± half an interval". shown() replaces them when all intervals of a table are known.
"""
import functools
import math
import re

LEVEL = 0.05
WIDE = 2  # an interval of more deviations than this to either side tells little
HELD = re.compile(r"\{\{(half )?([-+0-9.e]+) ± ([0-9.e+-]+) of (\d+), (\d+) digits\}\}")


def _beta_fraction(a, b, x):
    """Continued fraction of the incomplete beta function by Lentz's method (Abramowitz and Stegun 26.5.8)."""
    tiny, c = 1e-300, 1.0
    d = 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 500):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _incomplete_beta(a, b, x):
    """Regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def _tail(t, degrees):
    """P(T > t) for t >= 0."""
    return _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2


@functools.lru_cache(maxsize=None)
def student_t(p, degrees):
    """Quantile of Student's t for 0.5 <= p < 1, by bisection to rounding."""
    low, high = 0.0, 1.0
    while _tail(high, degrees) > 1 - p:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(middle, degrees) > 1 - p else (low, middle)
    return (low + high) / 2


def deviations(seeds, family):
    """Half of an interval, in standard deviations of a difference."""
    return student_t(1 - LEVEL / (2 * family), seeds - 1) / math.sqrt(seeds)


def deviation_of(half, seeds, family=1):
    """Standard deviation of the differences whose mean has an interval of this half."""
    return half / deviations(seeds, family)


def held(mean, deviation, seeds, digits=3, half=False):
    """Text of a mean of paired differences that shown() gives its interval; of one difference the mean alone."""
    if seeds < 2:
        return f"{mean:+.{digits}f}"
    return f"{{{{{'half ' if half else ''}{mean:.6g} ± {deviation:.4g} of {seeds}, {digits} digits}}}}"


def signed(value, digits):
    """"+0.012", and no "-0.000"."""
    return f"{0.0 if abs(value) < 0.5 * 10 ** -digits else value:+.{digits}f}"


def shown(text, family):
    """The text with the intervals of a family of so many."""
    def interval(found):
        half, mean, deviation, seeds, digits = found[1], float(found[2]), float(found[3]), int(found[4]), int(found[5])
        width = deviations(seeds, family) * deviation
        if half:
            return f"{signed(mean, digits)} ± {width:.{digits}f}"
        return f"{signed(mean, digits)} [{signed(mean - width, digits)}, {signed(mean + width, digits)}]"
    return HELD.sub(interval, text)


def told(texts):
    """What the intervals of a table hold for together, and where its seeds are too few to tell anything; empty without intervals."""
    found = [one for text in texts for one in HELD.findall(text)]
    family = len(found)
    if family == 0:
        return ""
    text = f"Differences: 95 % over all {family} intervals of this table together (Bonferroni)." if family > 1 else "The difference has a 95 % interval."
    unsure = [int(seeds) for _, mean, deviation, seeds, _ in found if abs(float(mean)) <= deviations(int(seeds), family) * float(deviation)]
    few = max(unsure, default=0)
    if few == 0 or deviations(few, family) <= WIDE:
        return text
    enough = next(n for n in range(few, 10000) if deviations(n, family) <= WIDE)
    return text + (f" With {few} seeds an interval is ± {deviations(few, family):.1f} standard deviations of a difference, too wide to tell much; {enough} "
                   f"seeds would make it ± {WIDE}.")


def family_of(texts):
    return sum(len(HELD.findall(text)) for text in texts)


def trend(slope, half, window, loss):
    """What a slope ± half of a loss says of a run whose last fifth has the length `window`: the words of `nudge train` (training/train/plateau.cpp).
    A run that as many more steps may change by 1 % of its loss or more is unfinished, as there. The fall so far, which counts there too, stands in no table."""
    if max(abs(slope - half), abs(slope + half)) * window < 0.01 * loss:
        return "has stopped falling"
    if slope - half > 0:
        return "rises"
    return ("still falls" if slope + half < 0 else "no significant trend") + ": unfinished"
