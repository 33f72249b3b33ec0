# SPDX-License-Identifier: Apache-2.0
"""A board as a run calls it: the states of its law, and devices whose pulses go to it."""

import copy
import warnings

import numpy as np

from .board_base import METHODS, Board
from .board_response import NudgeWatch, WriteWatch
from .config import flat
from .dynamics import Dynamics, _matrix
from .errors import InputError, NumericalError
from .own_code import code_of

__all__ = ["Link", "connected", "expect_board"]


def _fail(board, what):
    raise InputError(f"board {type(board).__name__}: {what}")


def expect_board(board):
    """InputError with all that a board lacks."""
    if not isinstance(board, Board):
        raise InputError(f"board: {board!r} (must be an object of a class derived from nudge.Board)")
    lacking = [text for name, text in METHODS.items() if getattr(type(board), name) is getattr(Board, name)]
    if lacking:
        _fail(board, "it has no " + "; no ".join(lacking))
    numbers = {name: getattr(board, name) for name in ("g_min", "g_max", "pulses", "w_max", "beta")}
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
            _fail(board, f"{name} = {value!r} (must be a number)")
    if not (0 <= board.g_min < board.g_max and board.pulses > 0 and board.w_max > 0 and board.beta > 0):
        _fail(board, f"g_min = {board.g_min:g}, g_max = {board.g_max:g}, pulses = {board.pulses:g}, w_max = {board.w_max:g}, beta = "
                     f"{board.beta:g} (must be 0 <= g_min < g_max, and the others above 0)")


class Link:
    """A board as the module calls it: the states of its law, and a device model whose pulses go to it. Devices know their array, their place
    and how many writes the board had."""

    states = [("array", "1", "number of the array on the board: twice that of the parameter, plus 1 for the second of a pair; -1: none", -1.0),
              ("place", "1", "number of the device in its array, row by row", 0.0),
              ("writes", "1", "writes that the board had before", 0.0)]
    disturbed = read_noise = None
    least_wait = 0.0

    def __init__(self, board, law, resumes=False):
        expect_board(board)
        if not isinstance(law, Dynamics):
            raise InputError(f"board: the law is {type(law).__name__} (must be a nudge.Dynamics: nudge.train(law, data, board=board))")
        self.device, self.names, self.conductances = board, list(law.parameters), tuple(law.conductances)
        self.shapes = {name: _matrix(np.shape(value)) for name, value in law.parameters.items()}
        self.writes = self.settles = 0
        self.failures, self.resumes = [], resumes  # resumes: a network is made before its checkpoint is read, and must not write
        self.due, self.known, self.waits_at = {}, None, None
        self.nudges, self.pulses = NudgeWatch(board), {}
        self.waited = self._waited
        if board.twin is not None:
            board.twin.begin()

    # What the system asks for.
    def measured(self, law, z, nudge):
        """(states, "") of the board, or (None, what failed)."""
        board = self.device
        if nudge is not None and not np.isfinite(nudge.value).all():
            return None, "a nudge is not finite, after a state that was not: no instrument gets it"
        board.numbers = {name: value for name, value in law.parameters.items() if isinstance(value, np.ndarray)}
        answer = board.settle(np.array(law.input), nudge)
        self.settles += 1
        try:
            states = np.array(answer, np.float64)
        except (TypeError, ValueError):
            _fail(board, f"settle(x, nudge) returned {type(answer).__name__} (must be an array of numbers)")
        if states.shape != z.shape:
            _fail(board, f"settle(x, nudge) returned the shape {states.shape} (must be {z.shape}: rows of x, columns of the law)")
        bad = np.argwhere(~np.isfinite(states))
        if bad.size:
            row, column = bad[0]
            what = f"{type(board).__name__}.settle measured {states[row, column]} at row {row}, unit {column} ({len(bad)} in all)"
            warnings.warn(what + ": its step is left out", RuntimeWarning, stacklevel=2)
            self.failures.append({"settle": self.settles, "what": what})
            return None, what
        self.nudges.saw(law, nudge, states)
        if nudge is None and board.twin is not None and board.twin.look(law, states, self.settles):
            board.left(board.twin.report())
        return states, ""

    # What the devices ask for.
    def name(self, array):
        """Name of an array by its number."""
        entity, side = divmod(int(array), 2)
        if entity >= len(self.names):
            _fail(self.device, "this crossbar.update or circuit.tokens needs more arrays than the board has (take pulses, write_verify, "
                               "accumulate or coincidence)")
        name = self.names[entity]
        return name if name in self.conductances else name + "+-"[side]

    def _conductances(self):
        """What the board reads, once after every write and wait."""
        if self.known is None:
            found = self.device.read()
            if not isinstance(found, dict):
                _fail(self.device, f"read() returned {type(found).__name__} (must be a dict of arrays by name)")
            self.known = {name: np.array(value, np.float64) for name, value in found.items()}
        return self.known

    def _is_on_board(self, array, size):
        """Whether it is an array of the law: the program also makes single devices, to ask how their kind behaves."""
        entity = int(array) // 2
        return entity >= len(self.names) or size == np.prod(self.shapes[self.names[entity]])

    def _of(self, array):
        name, all_of_them = self.name(array), self._conductances()
        if name not in all_of_them:
            _fail(self.device, f"read() returned no {name!r} (it has: {', '.join(all_of_them)})")
        g = all_of_them[name]
        shape = self.shapes[self.names[int(array) // 2]]
        if g.shape != shape:
            _fail(self.device, f"read(): {name!r} has the shape {g.shape} (must be {shape}, as the law has)")
        bad = np.argwhere(~np.isfinite(g))
        if bad.size:
            raise NumericalError(f"board {type(self.device).__name__}: read() gave {g[tuple(bad[0])]} S for {name}[{bad[0][0]}, {bad[0][1]}]")
        return g

    def _answer(self, array):
        g = self._of(array).reshape(1, -1)
        return [g, np.full_like(g, array), np.arange(g.size, dtype=np.float64).reshape(1, -1), np.full_like(g, self.writes)]

    def pulsed(self, g, n, states):
        """Notes pulses that held() sends."""
        for array in np.unique(states[0][states[0] >= 0]):
            here = states[0] == array
            counts = np.rint(n[here]).astype(np.int64)
            self.due.setdefault(int(array), []).append((states[1][here].astype(np.int64), counts))
        return [g, *states]

    def held(self, array, g, states):
        """Sends what is due to the array, and returns what it holds."""
        if not self._is_on_board(array, g.size):
            return [g, *states]
        due = self.due.pop(array, None)
        if due is not None:
            counts = np.zeros(self._of(array).shape, np.int64)
            for places, pulses in due:
                np.add.at(counts.reshape(-1), places, pulses)
            if counts.any() and not self.resumes:
                name, before = self.name(array), self._of(array)
                self.device.write({name: counts})
                self.writes += 1
                self.known = None
                self.pulses.setdefault(name, WriteWatch(self.device, name)).saw(before, counts, self._of(array))
        if self.waits_at is None:
            self.waits_at = array
        return self._answer(array)

    def restored(self, array, g, states):
        """What the array holds when a run is resumed from a checkpoint of conductances g."""
        name, board, self.resumes = self.name(array), self.device, False
        self.writes = int(states[2].flat[0])
        if hasattr(board, "restore"):
            board.restore({name: g.reshape(self._of(array).shape)}, self.writes)
            self.known = None
            return self._answer(array)
        answer = self._answer(array)
        off = float(np.sqrt(np.mean((answer[0] - g) ** 2)) / (board.g_max - board.g_min))
        if off > 1e-3:
            warnings.warn(f"board {type(board).__name__}: {name} is {100 * off:.2g} % of the window (rms) off the checkpoint. The run goes on from what "
                          "the chip holds", RuntimeWarning, stacklevel=2)
        return answer

    def _waited(self, g, seconds, kelvin, states):
        if int(states[0].flat[0]) == self.waits_at:  # once for all arrays
            self.device.wait(seconds)
            self.known = None
        return [g, *states]

    def report(self):
        """What the board was asked for, and what its twin found."""
        twin = self.device.twin
        return {"settles": self.settles, "writes": self.writes, "failures": self.failures, "twin": None if twin is None else twin.report()}


def connected(board, law, overrides=(), devices=None, resumes=False):
    """(system, link, keys) of a law whose states a board measures and whose devices it pulses: keys are those that the config gets, unless asked for."""
    if devices:
        raise InputError("devices: does not go with a board, whose devices are its own")
    link = Link(board, law, resumes)
    system = copy.copy(law)
    system._board = link
    asked = dict(flat(dict(overrides)))
    keys = {"device.model": "own", "device.g_min": float(board.g_min), "device.g_max": float(board.g_max), "device.pulses": float(board.pulses),
            "device.update": "pulsed", **{"device." + key: value for key, value in flat(dict(board.settings))},
            "own.device": getattr(board, "name", None) or type(board).__name__, "own.device_code": code_of(board), "crossbar.w_max": float(board.w_max), "hardware.level": "ideal", "relaxation.solver": "direct",
            "train.null": "off", "threads": 1}
    only = {"train.beside": ("none",), "crossbar.mapping": ("differential",), "crossbar.programming": ("open_loop_error", "write_verify"),
            **{key: (value,) for key, value in keys.items()}}
    for key, value in asked.items():
        if key in ("train.null", "train.beside") and value not in only[key]:
            raise InputError(f"{key} = {value!r}: a second run beside it would need a second chip (train that on a board of its own)")
        if key == "device.preset" or value not in only.get(key, (value,)):
            raise InputError(f"{key} = {value!r}: does not go with a board" + (f" (must be {', '.join(map(str, only[key]))})" if key in only else ""))
    keys.update({"beta": float(board.beta), "nudge.cost_current": "frozen", "estimator": "ep_contrastive" if law.contrastive else "ep"})
    return system, link, keys
