# SPDX-License-Identifier: Apache-2.0
"""Equilibria inside PyTorch models, and forces, energies and costs of PyTorch functions."""

import numpy as np
import torch

from .dynamics import Dynamics, elements, takes_input
from .network import Network

__all__ = ["Equilibrium", "dynamics", "energy", "cost"]


class _Settle(torch.autograd.Function):
    """Forward settles, backward is an estimator."""

    @staticmethod
    def forward(context, layer, step, x, *parameters):
        del parameters  # their numbers are in the network already
        state = layer.network.settle(_numpy(x), step=step, **layer.options).state
        context.layer, context.step, context.versions = layer, step, layer._written
        context.save_for_backward(x)
        return torch.from_numpy(state).to(x.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, u):
        layer = context.layer
        if layer._written != context.versions:
            raise RuntimeError("the weights were written between forward and backward: the equilibrium is no longer there")
        (x,) = context.saved_tensors
        gradients, x_gradient, layer.reports = layer.network.pull_back(
            _numpy(x), _numpy(u), layer.estimator, context.step, **layer.options)
        own = [torch.from_numpy(gradients[name]).to(p.dtype) for name, p in layer.named_parameters()]
        return (None, None, torch.from_numpy(x_gradient).to(x.dtype), *own)


def _numpy(tensor):
    return tensor.detach().cpu().numpy()


class Equilibrium(torch.nn.Module):
    """An equilibrium network as a layer of PyTorch: x (examples, rows, inputs) → the state of a node (examples, rows, width).

    - config, overrides: as in ``nudge.Network``.
    - estimator: how backward measures the gradient: a name of ``nudge.estimators()``, or "" for the config's.
    - node: whose state is the output. "": the one that the read-out of the config reads. "all": the whole state.
    - options: overrides of a call (``{"relaxation__nudged_steps": 50}``).

    Parameters have the names of the network's; embedding and read-out are left to the model around the layer. On devices they show what the devices hold. A step of a PyTorch
    optimizer is written to the devices before the next forward pass, as a training step is. The parameter then becomes what they took.

    The noise of reads is that of ``steps`` passes so far; evaluation without gradient uses the same. Backward settles again. The layer runs on the processor, one pass at a time.
    """

    def __init__(self, config=None, estimator="", node="", options=None, **overrides):
        super().__init__()
        self.network = Network(config, **overrides)
        self.estimator, self.options = estimator, dict(options or {})
        self.steps, self.reports, self._written = 0, [], 0
        outside = set(self.network._core.embedding)
        outside |= {name for name, readout in self.network.groups.items() if readout}
        for name, value in self.network.state_dict().items():
            if name not in outside:
                self.register_parameter(name, torch.nn.Parameter(torch.from_numpy(value)))
        nodes = self.network.nodes
        self.columns = (0, self.network.shape[1]) if node == "all" else nodes[node or self.network._core.readout_node]

    def forward(self, x):
        """Settles the network at the input x and returns the state of the node."""
        self._write()
        self.steps += 1
        state = _Settle.apply(self, self.steps, x, *self.parameters())
        return state[..., self.columns[0]:self.columns[1]]

    @torch.no_grad()
    def _write(self):
        """Writes what has changed since the last pass into what holds it, and takes over what became of it."""
        changed = {}
        for name, parameter in self.named_parameters():
            now = torch.from_numpy(np.array(self.network.parameters[name])).to(parameter.dtype)
            if not torch.equal(now, parameter):
                changed[name] = parameter - now
        if not changed:
            return
        self._written += 1
        if "conductance" in self.network.devices(next(iter(changed))):
            self.network.update(changed)
        else:
            self.network.load_state_dict({name: self.get_parameter(name) for name in changed}, strict=False)
        for name in changed:
            self.get_parameter(name).copy_(torch.from_numpy(np.array(self.network.parameters[name])))


def _tensor(value):
    return torch.as_tensor(np.asarray(value), dtype=torch.float64)


class _FunctionDynamics(Dynamics):
    def __init__(self, function, rows, cols, parameters):
        super().__init__(rows, cols, {name: p if callable(p) else np.array(_numpy(torch.as_tensor(p)), np.float64) for name, p in parameters.items()})
        self.takes_input = takes_input(function)
        self.own_function = function

    def function(self, z, theta):
        return self.own_function(z, theta, _tensor(self.input)) if self.takes_input else self.own_function(z, theta)

    def _at(self, z):
        return _tensor(z), {name: _tensor(value) for name, value in elements(self.parameters).items()}

    def force(self, z):
        z, theta = self._at(z)
        return self.function(z, theta).detach().numpy()

    def jvp(self, z, v):
        z, theta = self._at(z)
        return torch.func.jvp(lambda s: self.function(s, theta), (z,), (_tensor(v),))[1].detach().numpy()

    def vjp(self, z, u):
        z, theta = self._at(z)
        return torch.func.vjp(lambda s: self.function(s, theta), z)[1](_tensor(u))[0].detach().numpy()

    def parameter_gradient(self, z, u):
        z, theta = self._at(z)
        found = torch.func.vjp(lambda t: self.function(z, t), theta)[1](_tensor(u))[0]
        return {name: value.detach().numpy() for name, value in found.items()}


class _FunctionEnergy(_FunctionDynamics):
    conservative = True

    def value(self, z, theta):
        return super().function(z, theta)

    def function(self, z, theta):
        return torch.func.grad(lambda s: -self.value(s, theta))(z)

    def energy(self, z):
        return float(self.value(*self._at(z)))

    def energy_gradient(self, z):
        z, theta = self._at(z)
        return {name: one.numpy() for name, one in torch.func.grad(lambda t: self.value(z, t))(theta).items()}


def dynamics(force, parameters, shape):
    """Returns a ``nudge.Dynamics`` of a function force(z, parameters) → F (rows, cols) of PyTorch, in float64.

    ``torch.func`` takes J v, Jᵀ u and ⟨u, ∂F/∂θ⟩. A function of three arguments also gets the input of the samples, (rows, features).

    - parameters: a dict of arrays, tensors, or functions of a generator, as of ``nudge.Dynamics``.
    - shape: (rows, cols).
    """
    return _FunctionDynamics(force, *shape, parameters)


def energy(function, parameters, shape):
    """Returns the same of an energy function(z, parameters) → E, a scalar: F = −∂E/∂z."""
    return _FunctionEnergy(function, *shape, parameters)


class cost:
    """A cost of a function of the state, function(z) → a scalar, for ``nudge.estimate``."""

    def __init__(self, function):
        self.function = function

    def value(self, z):
        """Returns the cost of a state."""
        return float(self.function(_tensor(z)))

    def gradient(self, z):
        """Returns its gradient."""
        return torch.func.grad(self.function)(_tensor(z)).detach().numpy()
