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
    """A weight matrix W (inputs, outputs) programmed into an array of devices.

    - device: a model or a preset (``nudge.devices.list()``), a dict of the keys of ``[device]``, or a ``nudge.devices.Device``.
    - overrides: any key of device, crossbar and circuit, as ``crossbar__row_resistance="1 Ohm"``. ``seed`` names the devices.

    Amplifiers have noise, offsets and unequal gains, as in every run on devices; ``hardware__level="ideal"`` removes them.

    >>> array = Crossbar(w, device="ecram", device__programming_error=0.02)
    >>> y = array.forward(x)            # x W: drive the rows, sense the columns
    """

    def __init__(self, weights, device="soft_bounds", **overrides):
        self._core = _core.CrossbarArray(_matrix(weights, "weights"), settings_of(device, overrides), own_part(device))

    def forward(self, x, noisy=True, interval=1.0):
        """Returns x W (n, outputs) of drives x (n, inputs): one read, with fresh noise.

        - noisy: False removes the noise.
        - interval: how long the read integrates, in units of τ. The standard deviation of white noise falls as its root.
        """
        return self._read(self._core.forward, x, noisy, interval)

    def transposed(self, y, noisy=True, interval=1.0):
        """Returns y Wᵀ (n, inputs): drives the columns of the same devices, senses the rows."""
        return self._read(self._core.transposed, y, noisy, interval)

    def program(self, target):
        """Writes W ← target, as exactly as the devices can."""
        self._core.program(_matrix(target, "target"))

    def update(self, delta):
        """Asks for W ← W + delta by pulses. Devices take what they can."""
        self._core.update(_matrix(delta, "delta"))

    def advance_time(self, seconds, reading=0.0):
        """Lets ``seconds`` pass: drift, leak, telegraph and 1/f noise, and read disturb for the seconds of ``reading`` among them."""
        self._core.advance_time(float(seconds), float(reading))

    def currents(self, volts):
        """Returns column currents (n, outputs) in A of row voltages (n, inputs) in V.

        It solves the first array alone between its wires, untiled and without noise. Curved devices take Newton's method on all nodes.
        """
        volts = np.ascontiguousarray(volts, np.float64)
        out = self._core.currents(np.atleast_2d(volts))
        return out[0] if volts.ndim == 1 else out

    def netlist(self, volts):
        """Returns the same circuit as text for ngspice: ``ngspice -b FILE`` prints "i(vs<j>) = ..." for every column j. volts: (inputs)."""
        return self._core.netlist(np.ascontiguousarray(volts, np.float64).reshape(1, -1))

    @property
    def weights(self):
        """W as the devices hold it, which a read between ideal amplifiers multiplies by. A view."""
        return self._core.weights

    @property
    def conductances(self):
        """Conductance of every device, S: the first array, and the second where there is one (pairs, or a reference per row). Views."""
        facts = self._core.facts()
        return facts["conductance"], facts.get("reference_conductance")

    @property
    def pulses(self):
        """Pulses that each device has received, of both arrays. Views."""
        facts = self._core.facts()
        return facts["pulses"], facts.get("reference_pulses")

    @property
    def facts(self):
        """Everything that is known: readings, conductances, bounds, pulses, siemens_per_weight."""
        return self._core.facts()

    @staticmethod
    def _read(act, x, noisy, interval):
        x = np.asarray(x, np.float64)
        out = act(np.ascontiguousarray(np.atleast_2d(x)), noisy, float(interval))
        return out[0] if x.ndim == 1 else out
