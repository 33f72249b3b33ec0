# SPDX-License-Identifier: Apache-2.0
"""Files for a bench, CSV with units in their heads: conductance targets, pulses, test vectors."""

import csv
import io
import os
import statistics

import numpy as np

from . import _core
from .board_base import Board
from .errors import InputError

__all__ = ["Recorded", "export_program", "export_targets", "export_vectors"]


def _write(path, head, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    _core.write_file(os.fspath(path), text.getvalue().encode())


def _cells(conductances):
    """(array, row, column, value) of every device, in order."""
    for name, values in conductances.items():
        values = np.asarray(values)
        if values.ndim != 2:
            raise InputError(f"export: {name} has {values.ndim} dimensions (must be a dict of arrays (inputs, outputs))")
        for (row, column), value in np.ndenumerate(values):
            yield name, row, column, value


def _number(value):
    return f"{value:.9g}"


def export_targets(path, conductances, tolerance=0.0):
    """Writes conductance targets: array, row, column, target_S, tolerance_S.

    - conductances: {array: (inputs, outputs)} in S, as ``Board.read`` has them.
    - tolerance: S, as ``crossbar.verify_tolerance`` times the window is.
    """
    _write(path, ["array", "row", "column", "target_S", "tolerance_S"],
           [[name, row, column, _number(g), _number(tolerance)] for name, row, column, g in _cells(conductances)])


def export_program(path, board, targets, tolerance=0.01):
    """Writes what a write–verify controller is to do first: array, row, column, present_S, target_S, tolerance_S, pulses.

    ``pulses`` are whole nominal pulses of (g_max − g_min)/pulses towards the target, rounded down and at least 1; 0 within the tolerance. After them
    it reads, and goes on with what is missing. A blind controller (in place, no verify) sends them once.

    - targets: {array: (inputs, outputs)} in S.
    - tolerance: of the window, as ``crossbar.verify_tolerance``.
    """
    window, present = board.g_max - board.g_min, board.read()
    pulse, rows = window / board.pulses, []
    for name, row, column, target in _cells(targets):
        if name not in present or present[name].shape != np.shape(targets[name]):
            raise InputError(f"export_program: the board has no array {name!r} of shape {np.shape(targets[name])} (it has: {', '.join(present)})")
        g = present[name][row, column]
        missing = target - g
        count = 0 if abs(missing) <= tolerance * window else int(np.copysign(max(1, np.floor(abs(missing) / pulse)), missing))
        rows.append([name, row, column, _number(g), _number(target), _number(tolerance * window), count])
    _write(path, ["array", "row", "column", "present_S", "target_S", "tolerance_S", "pulses"], rows)


def export_vectors(path, conductances, volts, spread, noise=0.0, confidence=0.99):
    """Writes test vectors: array, vector, column, current_A, tolerance_A, and the voltage of every row, volts_0 …

    The current of column j is I_j = Σ_i V_i G_ij between ideal wires. With independent normal errors of the devices and of the reading it lies within the tolerance

        t σ_j,    σ_j² = Σ_i V_i² σ_G² + σ_I²,    t the two-sided normal quantile

    with the probability ``confidence``, each by itself.

    - conductances: {array: (inputs, outputs)} in S.
    - volts: {array: (vectors, inputs)} in V.
    - spread: σ_G, S: a number, or {array: (inputs, outputs)}, from a fit or a read of the chip.
    - noise: σ_I, A.

    ``nudge.Crossbar(...).currents`` solves the same between wires with resistance.
    """
    widest = max((np.shape(v)[1] for v in volts.values()), default=0)
    t, rows = statistics.NormalDist().inv_cdf(0.5 + confidence / 2), []
    for name, v in volts.items():
        if name not in conductances or np.ndim(v) != 2 or np.shape(v)[1] != np.shape(conductances[name])[0]:
            raise InputError(f"export_vectors: volts of {name!r} have the shape {np.shape(v)} (must be (vectors, inputs) of an array in: "
                             f"{', '.join(conductances)})")
        g, v = np.asarray(conductances[name], np.float64), np.asarray(v, np.float64)
        sigma = np.broadcast_to(spread[name] if isinstance(spread, dict) else spread, g.shape)
        currents, tolerance = v @ g, t * np.sqrt(v**2 @ sigma**2 + noise**2)
        for (vector, column), current in np.ndenumerate(currents):
            rows.append([name, vector, column, _number(current), _number(tolerance[vector, column]), *map(_number, v[vector]),
                         *[""] * (widest - v.shape[1])])
    _write(path, ["array", "vector", "column", "current_A", "tolerance_A", *(f"volts_{i}_V" for i in range(widest))], rows)


class Recorded(Board):
    """A board that does what another does, and keeps every pulse: write, array, row, column, pulses. ``save(path)`` writes them as CSV.

    On a ``SimulatedBoard`` this is the pulse program of a training (in place) or of write–verify, for a chip to be driven without the program.
    """

    def __init__(self, board):
        self.board, self.program = board, []
        for name in ("g_min", "g_max", "pulses", "w_max", "beta", "settings", "twin"):
            setattr(self, name, getattr(board, name))
        if hasattr(board, "restore"):
            self.restore = board.restore

    def settle(self, x, nudge):
        """As the board does."""
        self.board.numbers = self.numbers
        return self.board.settle(x, nudge)

    def read(self):
        """As the board does."""
        return self.board.read()

    def write(self, pulses):
        """Notes the pulses and hands them on."""
        number = self.program[-1][0] + 1 if self.program else 0
        self.program += [(number, name, row, column, int(n)) for name, row, column, n in _cells(pulses) if n]
        self.board.write(pulses)

    def wait(self, seconds):
        """As the board does."""
        self.board.wait(seconds)

    def left(self, report):
        """As the board does."""
        self.board.left(report)

    def save(self, path):
        """Writes the pulses that were sent: write, array, row, column, pulses (negative: down)."""
        _write(path, ["write", "array", "row", "column", "pulses"], self.program)
