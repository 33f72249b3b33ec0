# SPDX-License-Identifier: Apache-2.0
"""A board without instruments: a chip of known faults, for tests, for trying a set-up, and as the pattern of a class of your own."""

import copy
import hashlib

import numpy as np

from .board_base import Board
from .dynamics import Dynamics, _matrix, nudged_force
from .errors import InputError

__all__ = ["SimulatedBoard", "scale_of", "weights_of"]


def scale_of(board, bare):
    """k, siemens per unit of weight, of a pair of devices, or of a bare one."""
    return (board.g_max if bare else board.g_max - board.g_min) / board.w_max


def weights_of(board, law, conductances):
    """{parameter: value} that the conductances of a board mean: (G⁺ − G⁻)/k, or G/k. Parameters without an array are those of the law."""
    found = {}
    for name, value in law.parameters.items():
        if name in conductances:
            found[name] = conductances[name] / scale_of(board, True)
        elif name + "+" in conductances:
            found[name] = (conductances[name + "+"] - conductances[name + "-"]) / scale_of(board, False)
        else:
            found[name] = np.asarray(value, np.float64)
        found[name] = found[name].reshape(np.shape(value))
    return found


class TwoWay(np.ndarray):
    """A matrix whose transpose is read by amplifiers of another gain, ``back``."""

    back = 1.0

    @property
    def T(self):
        return self.back * np.asarray(self).T


def two_way(value, back):
    """A copy of a matrix as a TwoWay; a vector stays what it is."""
    out = np.array(value, np.float64)
    if out.ndim == 2 and back != 1:
        out = out.view(TwoWay)
        out.back = back
    return out


def _number(*parts):
    """A whole number that is a function of arrays and numbers, for random numbers that a resumed run draws again."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return int.from_bytes(digest.digest(), "little")


class SimulatedBoard(Board):
    """A chip whose equations are those of a law, with faults. Every fault is 0 by default.

    - law: a ``nudge.Dynamics``; its parameters are the weights that the chip was meant to be programmed with. A product with the transpose of a
      parameter (``w.T``) goes the other way through the array.
    - gain, offset: standard deviations over units, of a reading's gain about 1 and of its offset, in units of the state.
    - noise: standard deviation of a reading.
    - adc_bits, adc_range: readings are rounded to 2^bits levels over ±range; 0 bits: not rounded.
    - delay: τ between the inputs and the reading, from rest. e^(−delay) of a slow unit's way is then missing.
    - back: gain of the transposed path.
    - programming_error: of a conductance at the start, of the window (standard deviation).
    - stuck: share of devices that no pulse moves, anywhere in the window.
    - step_spread, pulse_noise: relative standard deviation of the pulses' size from device to device, and of one pulse.
    - read_noise: of ``read``, of the window.
    - drift: change of all gains per write, relative.

    A pulse moves a device with soft bounds: n pulses leave (1 − q)^n of its distance to the bound, q = 2 (1 + spread)/pulses. Its readings repeat bit
    by bit where a run is resumed: noise is a function of the seed, of what is asked, of how many writes there were, and of how often the same was
    asked since the last one. With ``read_noise`` they do not: a resumed run has read the conductances once more.
    """

    def __init__(self, law, g_min=1e-6, g_max=21e-6, pulses=200, w_max=1.0, *, gain=0.0, offset=0.0, noise=0.0, adc_bits=0, adc_range=4.0, delay=30.0,
                 back=1.0, programming_error=0.0, stuck=0.0, step_spread=0.0, pulse_noise=0.0, read_noise=0.0, drift=0.0, seed=1, step=0.2):
        if not isinstance(law, Dynamics):
            raise InputError(f"SimulatedBoard: the law is {type(law).__name__} (must be a nudge.Dynamics)")
        if not (delay > 0 and step > 0 and noise >= 0 and 0 <= stuck <= 1 and adc_bits >= 0):
            raise InputError(f"SimulatedBoard: delay = {delay}, step = {step}, noise = {noise}, stuck = {stuck}, adc_bits = {adc_bits} (must be "
                             "above 0, above 0, 0 or more, a share, 0 or more)")
        self.g_min, self.g_max, self.pulses, self.w_max = float(g_min), float(g_max), pulses, float(w_max)
        self.law, self.noise, self.adc_bits, self.adc_range, self.delay, self.back = law, noise, adc_bits, adc_range, delay, back
        self.pulse_noise, self.read_noise, self.drift, self.seed, self.step = pulse_noise, read_noise, drift, int(seed), step
        rng, window = np.random.default_rng([self.seed, 0]), self.g_max - self.g_min
        self.gain = 1 + gain * rng.standard_normal(law.cols)
        self.offset = offset * rng.standard_normal(law.cols)
        self.conductances, self.free, self.size = {}, {}, {}
        for name, meant in self._meant(law).items():
            g = np.clip(meant + programming_error * window * rng.standard_normal(meant.shape), self.g_min, self.g_max)
            self.free[name] = rng.random(meant.shape) >= stuck
            anywhere = self.g_min + window * rng.random(meant.shape)
            self.conductances[name] = np.where(self.free[name], g, anywhere)
            self.size[name] = np.clip(2 / self.pulses * (1 + step_spread * rng.standard_normal(meant.shape)), 0, 1)
        self.writes, self._asked = 0, {}

    def _meant(self, law):
        """{array: conductances} of the law's parameters."""
        found, middle = {}, (self.g_min + self.g_max) / 2
        for name, value in law.parameters.items():
            w = np.asarray(value, np.float64).reshape(_matrix(np.shape(value)))
            if name in law.conductances:
                found[name] = scale_of(self, True) * w
            elif law.on_devices is None or name in law.on_devices:
                half = scale_of(self, False) / 2 * w
                found[name + "+"], found[name + "-"] = middle + half, middle - half
        return found

    def _rng(self, *parts):
        """Random numbers of what was asked, and of how often it was since the last write."""
        number = _number(*parts)
        again = self._asked[number] = self._asked.get(number, -1) + 1
        return np.random.default_rng([self.seed, 1 + self.writes, number, again])

    def settle(self, x, nudge):
        """Relaxes the chip's equations from rest for ``delay``, by Euler steps of ``step``, and returns the readings of all units."""
        law = copy.copy(self.law)
        law.rows, law.input = len(x), x
        held = {**weights_of(self, self.law, self.conductances), **self.numbers}
        law.parameters = {name: two_way(value, self.back) for name, value in held.items()}
        z = np.zeros((len(x), law.cols))
        if nudge is not None and nudge.held:
            z[:, slice(*law._output_columns())] = nudge.value
        for _ in range(max(1, round(self.delay / self.step))):
            z += self.step * nudged_force(law, z, nudge)
        rng = self._rng(x, *(() if nudge is None else (nudge.value, nudge.load, float(nudge.held))))
        seen = self.gain * (1 + self.drift * self.writes) * z + self.offset + self.noise * rng.standard_normal(z.shape)
        if self.adc_bits:
            level = 2 * self.adc_range / (2**self.adc_bits - 1)
            seen = np.clip(np.rint(seen / level) * level, -self.adc_range, self.adc_range)
        return seen

    def read(self):
        """Returns the conductances, with ``read_noise``."""
        if not self.read_noise:
            return {name: g.copy() for name, g in self.conductances.items()}
        rng, sigma = self._rng(2.0), self.read_noise * (self.g_max - self.g_min)
        return {name: np.maximum(g + sigma * rng.standard_normal(g.shape), 0) for name, g in self.conductances.items()}

    def write(self, pulses):
        """Moves the devices."""
        for name, n in pulses.items():
            g, up = self.conductances[name], np.asarray(n) > 0
            rng = np.random.default_rng([self.seed, 1 + self.writes, _number(np.frombuffer(name.encode(), np.uint8))])
            bound, count = np.where(up, self.g_max, self.g_min), np.abs(n)
            moved = (bound - g) * -np.expm1(count * np.log1p(-np.minimum(self.size[name], 0.99)))
            scatter = self.pulse_noise * np.abs(moved) / np.sqrt(np.maximum(count, 1)) * rng.standard_normal(g.shape)
            self.conductances[name] = np.where(self.free[name], np.clip(g + moved + scatter, self.g_min, self.g_max), g)
        self.writes += 1
        self._asked = {}

    def restore(self, conductances, writes):
        """Sets arrays to what a checkpoint says that they held after so many writes: for a simulated chip only."""
        self.conductances.update({name: np.array(g) for name, g in conductances.items()})
        self.writes, self._asked = writes, {}
