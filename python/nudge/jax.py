# SPDX-License-Identifier: Apache-2.0
"""Forces, energies and costs of JAX functions; J v, Jᵀ u and ⟨u, ∂F/∂θ⟩ are taken by ``jax.jvp`` and ``jax.vjp``.

They run in float64 whatever ``jax_enable_x64`` is. JAX keeps one conversion of a NumPy array that functions close over. If the same
array is also used in float32 elsewhere, pass it as a parameter or a copy, or set ``jax_enable_x64``.
"""

import jax
import jax.numpy as jnp
import numpy as np

from .dynamics import Dynamics, elements, takes_input

try:
    from jax import enable_x64
except ImportError:  # before JAX 0.8
    from jax.experimental import enable_x64

__all__ = ["dynamics", "energy", "cost"]


def _in_double(function):
    """``function`` compiled, with arrays of NumPy in and out, in float64 whatever JAX's own setting is."""
    compiled = jax.jit(function)

    def call(*values):
        with enable_x64(True):
            arrays = jax.tree.map(lambda one: jnp.asarray(one, jnp.float64), values)
            return jax.tree.map(lambda one: np.array(one, np.float64), compiled(*arrays))

    return call


class _FunctionDynamics(Dynamics):
    """function(z, parameters, input), as all are made."""

    def __init__(self, function, rows, cols, parameters):
        super().__init__(rows, cols, {name: value if callable(value) else np.array(value, np.float64) for name, value in parameters.items()})
        self._force = _in_double(function)
        self._jvp = _in_double(lambda z, theta, x, v: jax.jvp(lambda s: function(s, theta, x), (z,), (v,))[1])
        self._vjp = _in_double(lambda z, theta, x, u: jax.vjp(lambda s: function(s, theta, x), z)[1](u)[0])
        self._pull = _in_double(lambda z, theta, x, u: jax.vjp(lambda t: function(z, t, x), theta)[1](u)[0])

    def _at(self, z):
        return z, elements(self.parameters), np.zeros((len(z), 0)) if self.input is None else self.input

    def force(self, z):
        return self._force(*self._at(z))

    def jvp(self, z, v):
        return self._jvp(*self._at(z), v)

    def vjp(self, z, u):
        return self._vjp(*self._at(z), u)

    def parameter_gradient(self, z, u):
        return self._pull(*self._at(z), u)


class _FunctionEnergy(_FunctionDynamics):
    conservative = True

    def __init__(self, function, rows, cols, parameters):
        super().__init__(jax.grad(lambda z, theta, x: -function(z, theta, x)), rows, cols, parameters)
        self._energy = _in_double(function)
        self._contrasted = _in_double(jax.grad(function, argnums=1))

    def energy(self, z):
        return float(self._energy(*self._at(z)))

    def energy_gradient(self, z):
        return self._contrasted(*self._at(z))


def _of_three(function):
    return function if takes_input(function) else lambda z, theta, x: function(z, theta)


def dynamics(force, parameters, shape):
    """Returns a ``nudge.Dynamics`` of a function force(z, parameters) → F (rows, cols) that JAX can trace, in float64.

    It is compiled once per shape. A function of three arguments also gets the input of the samples, (rows, features).

    - parameters: a dict of arrays, or of functions of a generator, as of ``nudge.Dynamics``.
    - shape: (rows, cols).
    """
    return _FunctionDynamics(_of_three(force), *shape, parameters)


def energy(function, parameters, shape):
    """Returns the same of an energy function(z, parameters) → E, a scalar: F = −∂E/∂z."""
    return _FunctionEnergy(_of_three(function), *shape, parameters)


class cost:
    """A cost of a function of the state, function(z) → a scalar, for ``nudge.estimate``."""

    def __init__(self, function):
        self._value, self._gradient = _in_double(function), _in_double(jax.grad(function))

    def value(self, z):
        """Returns the cost of a state."""
        return float(self._value(z))

    def gradient(self, z):
        """Returns its gradient."""
        return self._gradient(z)
