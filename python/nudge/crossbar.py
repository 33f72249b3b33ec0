# SPDX-License-Identifier: Apache-2.0
"""A weight matrix on simulated devices."""

import numpy as np

from . import _core
from .devices import own_part, settings_of
from .errors import InputError

__all__ = ["Crossbar"]


def _matrix(value, name):
    value = np.ascontiguousarray(value, np.float64)
    if value.ndim != 2:
        raise InputError(f"{name}: {value.ndim} dimensions (must be 2)")
    return value


class Crossbar:
    """A matrix W (inputs, outputs) programmed into an array of devices.

    device: a model or a preset (``nudge.devices.list()``), a dict of the keys of the section [device], or a device of one's own
    (``nudge.devices.Device``). overrides: any key of
    device, crossbar, circuit, as ``crossbar__wire_resistance="1 ohm"``; ``seed`` names the devices.
    Amplifiers have noise, offsets and gains that differ, as in every run on devices; ``hardware__level="ideal"`` is without.

    >>> array = Crossbar(w, device="ecram", device__programming_error=0.02)
    >>> y = array.forward(x)            # x W: drive the rows, sense the columns
    """

    def __init__(self, weights, device="soft_bounds", **overrides):
        self._core = _core.CrossbarArray(_matrix(weights, "weights"), settings_of(device, overrides), own_part(device))

    def forward(self, x, noisy=True, interval=1.0):
        """x W (n, outputs) of drives (n, inputs): one read, with fresh noise that another read does not share. interval: how long
        the read integrates, in units of τ (the standard deviation of white noise falls as its root). noisy=False: without."""
        return self._read(self._core.forward, x, noisy, interval)

    def transposed(self, y, noisy=True, interval=1.0):
        """y Wᵀ (n, inputs): drive the columns of the same devices, sense the rows."""
        return self._read(self._core.transposed, y, noisy, interval)

    def program(self, target):
        """W ← target, as exactly as the devices can."""
        self._core.program(_matrix(target, "target"))

    def update(self, delta):
        """W ← W + delta by pulses: devices take what they can."""
        self._core.update(_matrix(delta, "delta"))

    def advance_time(self, seconds, reading=0.0):
        """Drift, leak, telegraph and 1/f noise; read disturb of the seconds of ``reading`` among them."""
        self._core.advance_time(float(seconds), float(reading))

    def currents(self, volts):
        """Column currents (n, outputs) in A of row voltages (n, inputs) in V: the first array alone between its wires, untiled and
        without noise; curved devices by Newton's method on all nodes."""
        volts = np.ascontiguousarray(volts, np.float64)
        out = self._core.currents(np.atleast_2d(volts))
        return out[0] if volts.ndim == 1 else out

    def netlist(self, volts):
        """The same circuit for ngspice, text: ``ngspice -b FILE`` prints "i(vs<j>) = ..." for every column j. volts: (inputs)."""
        return self._core.netlist(np.ascontiguousarray(volts, np.float64).reshape(1, -1))

    @property
    def weights(self):
        """The W that the devices hold, which a read between ideal amplifiers multiplies by: a view."""
        return self._core.weights

    @property
    def conductances(self):
        """Of every device, S: the first array, and the second where it has one (pairs, or a reference per row). Views."""
        facts = self._core.facts()
        return facts["conductance"], facts.get("reference_conductance")

    @property
    def pulses(self):
        """That each device has received, of both arrays. Views."""
        facts = self._core.facts()
        return facts["pulses"], facts.get("reference_pulses")

    @property
    def facts(self):
        """All that is known: readings, conductances, bounds, pulses, siemens_per_weight."""
        return self._core.facts()

    @staticmethod
    def _read(act, x, noisy, interval):
        x = np.asarray(x, np.float64)
        out = act(np.ascontiguousarray(np.atleast_2d(x)), noisy, float(interval))
        return out[0] if x.ndim == 1 else out
