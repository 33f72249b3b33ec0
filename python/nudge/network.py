# SPDX-License-Identifier: Apache-2.0
"""An equilibrium network as an object: settle it, ask it for gradients, read and write its parameters and devices."""

from collections.abc import Mapping

import numpy as np

from . import _core
from .config import source_of
from .dynamics import Dynamics
from .errors import InputError
from .own_device import device_of, source_with
from .system import lent, system_source

__all__ = ["Network"]


class Parameters(Mapping):
    """The parameters by name, as /parameters of a run file has them: arrays (inputs, outputs) that show the weights which a
    noise-free read uses. They are views: not to be written to, and they follow the network. ``net.parameters[name] = array``
    programs an array into what holds it, as exactly as that can."""

    def __init__(self, network):
        self._network = network

    def __getitem__(self, name):
        if name not in self._network._core.groups:
            raise KeyError(name)
        return self._network._core.parameter(name)

    def __setitem__(self, name, value):
        self._network.load_state_dict({name: value}, strict=False)

    def __iter__(self):
        return iter(self._network._core.groups)

    def __len__(self):
        return len(self._network._core.groups)

    def __repr__(self):
        return "{" + ", ".join(f"{name}: {value.shape}" for name, value in self.items()) + "}"


class Settled:
    """``state`` (examples, rows, cols), ``nodes`` (the same by node), ``reports`` (a dict per example: status, steps, residual,
    time)."""

    def __init__(self, state, reports, nodes):
        self.state, self.reports = state, reports
        self.nodes = {name: state[..., begin:end] for name, (begin, end) in nodes.items()}

    @property
    def residual(self):
        """|F|/|z| of each example."""
        return np.array([report["residual"] for report in self.reports])

    def __repr__(self):
        return f"<Settled {self.state.shape}, residual at most {self.residual.max():.1e}>"


def _called(estimator):
    """(name, object or None) of an estimator of the program or of one's own."""
    return (estimator, None) if isinstance(estimator, str) else ("own", lent(estimator=estimator)[2])


class Network:
    """The network of a config on its devices, with its initial weights (a function of ``seed``) and its task.

    - config: as in ``nudge.train``, or a ``Dynamics`` on its data (``data__file``, ``task__kind``; by default the digits that are built in).
    - weights: a dict to start from (``load_state_dict``).
    - devices: as in ``nudge.train``.
    - overrides: keys of the config. ``precision`` chooses float32 or float64.

    Arrays of the right type and layout (``net.dtype``, C order) are used where they lie; others are copied once. Results own their memory. Calls release the GIL and use the ``threads`` of the
    config. ``net.parameters`` maps names to read-only views; ``net.parameters[name] = array`` programs what holds the parameter.
    """

    def __init__(self, config=None, weights=None, devices=None, **overrides):
        own = isinstance(config, Dynamics)
        source = system_source(config, overrides, devices) if own else source_with(config, overrides, devices)
        parts = lent(system=config if own else None, device=device_of({} if own else config, overrides, devices))
        resolved = _core.resolve(source.name, source.text, source.settings, parts)
        double = 'precision = "double"' in resolved
        make = _core.NetworkDouble if double else _core.NetworkFloat
        self._core = make(source.name, source.text, source.settings, parts)
        self.dtype = np.dtype(np.float64 if double else np.float32)
        self.config_text = resolved
        self.parameters = Parameters(self)
        self._reads = 0  # calls that drew fresh noise
        if weights is not None:
            self.load_state_dict(weights)

    # What it is.
    @property
    def groups(self):
        """Names of the parameters. The value is True for those of the read-out, which learn directly with any estimator."""
        return self._core.groups

    @property
    def nodes(self):
        """Columns (begin, end) of the state by node."""
        return self._core.nodes

    @property
    def shape(self):
        """(rows, cols) of the state of one example."""
        return self._core.rows, self._core.cols

    @property
    def inputs(self):
        """Number of columns of what clamps the input."""
        return self._core.inputs

    @property
    def damping(self):
        """c of the force s (Mixer(z) − c z). It can be set."""
        return self._core.damping

    @damping.setter
    def damping(self, value):
        self._core.damping = float(value)

    # Weights in and out.
    def state_dict(self):
        """Returns copies of all parameters by name."""
        return {name: np.array(value) for name, value in self.parameters.items()}

    def load_state_dict(self, values, strict=True):
        """Programs parameters, arrays or tensors (inputs, outputs), into what holds them: each array of devices once.

        - strict: True asks for all of them.

        An unknown name (with the nearest), a missing one or another shape raises InputError.
        """
        found = {name: self._matrix(value, name) for name, value in values.items()}
        missing = [name for name in self.groups if name not in found]
        if strict and missing:
            raise InputError(f"no {', '.join(missing)} in the weights (they have: {', '.join(found)})")
        self._core.program(found)

    def update(self, changes):
        """Asks for W ← W + change, for parameters by name, as a training step does. Devices take what their pulses can."""
        self._core.update({name: self._matrix(value, name) for name, value in changes.items()})

    def advance_time(self, seconds, reading=0.0):
        """Lets ``seconds`` pass: drift, leak, telegraph and 1/f noise, and read disturb for the seconds of ``reading`` among them."""
        self._core.advance_time(float(seconds), float(reading))

    def devices(self, name):
        """Returns what holds a parameter: its ``readings``, and of a crossbar also every device.

        Those are ``conductance``, ``reference_conductance``, ``pulses``, ``lower``, ``upper`` (views, S) and ``siemens_per_weight``. An array may hold several parameters side by side.
        """
        return self._core.array(name)

    # Data.
    def batch(self, step=0):
        """Returns (x, y) of a training step of the task: symbols and targets, or features and labels or values."""
        return self._core.training(step)

    def validation(self):
        """Returns all validation batches, (x, y) each."""
        return self._core.validation()

    # What it does.
    def _noise(self, step):
        """The step that names the noise of a call: that asked for, else the next, counted from 0."""
        if step is None:
            step, self._reads = self._reads, self._reads + 1
        return step

    def settle(self, x, step=None, **overrides):
        """Returns the equilibria ``z*`` of examples: an object with ``state`` (examples, rows, cols), ``nodes``, ``reports`` and ``residual``.

        - x: symbols (examples, rows) of integers, or samples (n, features) of floats. An array (examples, rows, inputs) clamps the input itself.
        - step: names the read noise. Without it every call draws fresh noise, the same in every process.
        - overrides: beta, threads, seed and the sections relaxation, nudge, reads (``relaxation__free_steps=100``).
        """
        settings, step = source_of(None, overrides).settings, self._noise(step)
        x = np.asarray(x)
        if x.ndim == 3:
            state, reports = self._core.settle_input(np.ascontiguousarray(x, self.dtype), step, settings)
        else:
            state, reports = self._core.settle(self._batch(x, None), step, settings)
        return Settled(state, reports, self.nodes)

    def evaluate(self, x, y=None, step=None, **overrides):
        """Returns (outputs, report) of free phases. Outputs are logits, or the node that the cost compares with its targets.

        The report has the mean loss where y is given. step and overrides as in ``settle``.
        """
        return self._core.evaluate(self._batch(x, y), self._noise(step), source_of(None, overrides).settings)

    def gradient(self, x, y, estimator="", step=0, **overrides):
        """Returns (gradients, report): the gradient of the mean cost as a dict of arrays, and what the phases were like.

        - estimator: a name of ``nudge.estimators()``, a ``nudge.Estimator``, or "" for the config's.
        - step, overrides: as in ``settle``.

        The report has loss, residual, nudged_residual, nudge_ratio, state, adjoint, ... The growth penalty is left out.
        """
        return self._core.gradient(self._batch(x, y), *_called(estimator), step, source_of(None, overrides).settings)

    def pull_back(self, x, u, estimator="", step=0, **overrides):
        """Returns (gradients, x_gradient, reports) of a loss L: what the network is to a model around it.

        - x: the input (examples, rows, inputs).
        - u: ``∂L/∂z*`` (examples, rows, cols).

        Embedding and read-out get no gradient.
        """
        x, u = (np.ascontiguousarray(one, self.dtype) for one in (x, u))
        return self._core.pull_back(x, u, *_called(estimator), step, source_of(None, overrides).settings)

    def _matrix(self, value, name):
        if hasattr(value, "detach"):  # a tensor of PyTorch
            value = value.detach().cpu().numpy()
        value = np.asarray(value)
        if value.ndim == 1:
            value = value[None, :]
        if value.ndim != 2 or value.dtype.kind not in "fiu":
            raise InputError(f"parameter {name}: {value.ndim} dimensions of {value.dtype} (must be a matrix of numbers)")
        return np.ascontiguousarray(value, self.dtype)

    def _batch(self, x, y):
        x = np.asarray(x)
        if x.ndim != 2:
            raise InputError(f"x: {x.ndim} dimensions (must be 2: examples by rows of symbols, or samples by features)")
        if x.dtype.kind in "iu":
            y = np.zeros((0, 0), np.int32) if y is None else np.ascontiguousarray(y, np.int32)
            if y.ndim != 2:
                raise InputError(f"y: {y.ndim} dimensions (must be 2, as x)")
            return self._core.symbols(np.ascontiguousarray(x, np.int32), y)
        labels, values = np.zeros(0, np.int32), np.zeros((0, 0), np.float32)
        if y is not None:
            y = np.asarray(y)
            if y.ndim == 1 and y.dtype.kind in "iu":
                labels = np.ascontiguousarray(y, np.int32)
            else:
                values = np.ascontiguousarray(y.reshape(len(y), -1), np.float32)
        return self._core.samples(np.ascontiguousarray(x, np.float32), labels, values)

    def __repr__(self):
        return f"<nudge.Network {self.shape[0]} x {self.shape[1]}: {self.parameters!r}>"
