# SPDX-License-Identifier: Apache-2.0
"""Does a board do what it is asked for? Measured changes beside those that its law, or its pulses, say."""

import warnings

import numpy as np

from .dynamics import Dynamics, newton
from .errors import InputError

__all__ = ["NudgeWatch", "Response", "WriteWatch", "settled_shift"]


class Response:
    """How much of an expected change p a measured one d has, d = g p + noise, by least squares over all that it was given:

        g = Σ p d/Σ p²,    se² = (Σ d² − g Σ p d)/n / Σ p²

    It responds where g > 4 se. It does nothing where g + 4 se < 1/8: so one that does an eighth of what is expected, or more, is called dead once in
    30,000 looks (normal noise).
    """

    sure, least, most = 4.0, 1 / 8, 100  # standard errors that are certain; the least share that is a response; looks after which noise hides it

    def __init__(self):
        self.looks = self.n = 0
        self.pp = self.pd = self.dd = 0.0

    def add(self, expected, measured):
        """Takes a look; one where nothing is expected does not count."""
        p, d = np.ravel(expected), np.ravel(measured)
        if not p.any():
            return
        self.looks += 1
        self.n += p.size
        self.pp += p @ p
        self.pd += p @ d
        self.dd += d @ d

    @property
    def share(self):
        """g, and its standard error; (0, infinity) before the first look."""
        if not self.pp:
            return 0.0, np.inf
        g = self.pd / self.pp
        return g, np.sqrt(max(self.dd - g * self.pd, 0.0) / self.n / self.pp)

    @property
    def verdict(self):
        """"responds", "nothing", "backwards", "hidden" by noise, or "" while it cannot be told."""
        g, se = self.share
        if g > self.sure * se and g > 0:
            return "responds"
        if g < -self.sure * se:
            return "backwards"
        if g + self.sure * se < self.least:
            return "nothing"
        return "hidden" if self.looks >= self.most else ""

    @property
    def text(self):
        """g ± 2 se, in words."""
        g, se = self.share
        return f"{g:.2g} ± {2 * se:.1g}"


def settled_shift(law, states, nudge):
    """(shift, rows): what the nudge shifts the equilibria of the law near the states by, in rows where it has both."""
    free, there = newton(law, states)
    nudged, found = newton(law, free, nudge)
    return nudged - free, there & found


class _Watch:
    """Follows a response until it is told, and says what is wrong."""

    def __init__(self, board):
        self.board, self.response, self.told = board, Response(), False

    def look(self, expected, measured, lines):
        """lines: {verdict: text with {looks} and {text}} of what is wrong and what to do."""
        self.response.add(expected, measured)
        verdict = self.response.verdict
        self.told = bool(verdict)
        if verdict not in lines:
            return
        text = f"board {type(self.board).__name__}: " + lines[verdict].format(looks=self.response.looks, text=self.response.text)
        if verdict != "hidden":
            raise InputError(text)
        warnings.warn(text, RuntimeWarning, stacklevel=2)


class NudgeWatch(_Watch):
    """Compares the shift of the measured states by the nudge with that of the law, in the first nudged phases of a run."""

    lines = {"nothing": "settle(x, nudge) ignores the nudge: the states moved by {text} of what the law says ({looks} nudged phases). Drive the outputs "
                        "with nudge.value, wait until the states have settled, or make beta larger",
             "backwards": "settle(x, nudge) nudges the wrong way: the states moved by {text} of what the law says ({looks} nudged phases). Drive the outputs "
                          "with nudge.value and its sign",
             "hidden": "the noise of settle hides the nudge: the states moved by {text} of what the law says ({looks} nudged phases). Make beta larger, or "
                       "measure the mean of several readings"}

    def __init__(self, board):
        super().__init__(board)
        self.input = self.free = None

    def saw(self, law, nudge, states):
        """Takes measured states of a law with its present input and parameters."""
        if self.told or type(law).jvp is Dynamics.jvp:  # Newton's method needs it
            return
        if nudge is None:
            self.input, self.free = np.array(law.input), states
        elif self.free is not None and np.array_equal(self.input, law.input):
            shift, rows = settled_shift(law, self.free, nudge)
            self.look(shift[rows], (states - self.free)[rows], self.lines)


class WriteWatch(_Watch):
    """Compares what the first writes to an array change with what whole nominal pulses do."""

    def __init__(self, board, name):
        super().__init__(board)
        advice = "it moved by {text} of what the pulses say ({looks} writes). "
        self.lines = {
            "nothing": f"write(pulses) does nothing to {name!r}: {advice}Send the pulses to its devices, let read() measure it anew, or set board.pulses",
            "backwards": f"write(pulses) moves {name!r} the wrong way: {advice}Send pulses > 0 as those that make a conductance larger",
            "hidden": f"the noise of read() hides what writes to {name!r} do: {advice}Measure the mean of several readings, or set board.pulses"}

    def saw(self, before, pulses, after):
        """Takes what read() returned before and after the pulses (whole numbers), S."""
        if self.told:
            return
        board = self.board
        step = (board.g_max - board.g_min) / board.pulses
        expected = np.clip(before + pulses * step, np.minimum(before, board.g_min), np.maximum(before, board.g_max)) - before
        sent = pulses != 0
        self.look(expected[sent], (after - before)[sent], self.lines)
