# SPDX-License-Identifier: Apache-2.0
"""Forces, energies and costs written in Python, under every estimator."""

import numpy as np

from . import _core
from .errors import InputError

__all__ = ["Dynamics", "EnergyDynamics", "SquaredError", "settle", "estimate", "check"]


class Dynamics:
    """Anything that settles, τ dz/dt = F(z, θ): a state z (rows, cols) of float64 and a dict of parameters.

    A subclass has ``force(z)``, ``jvp(z, v)`` = J v, ``vjp(z, u)`` = Jᵀ u with J = ∂F/∂z at z, and, where it has parameters,
    ``parameter_gradient(z, u)`` = {name: ⟨u, ∂F/∂θ⟩}. J v and Jᵀ u are not replaced by finite differences: those are what the
    estimators are checked with. ``nudge.torch.dynamics`` takes all three from one function.

    conservative = True: F = −∂E/∂z with ``energy(z)``; plain EP is then exact to first order. Else AEP corrects the whole force.
    leak: L of a part −L z that every unit has (0: not known).
    """

    conservative = False
    leak = 0.0

    def __init__(self, rows, cols, parameters=None):
        self.rows, self.cols = int(rows), int(cols)
        self.parameters = dict(parameters or {})

    def force(self, z):
        raise NotImplementedError("force(z)")

    def jvp(self, z, v):
        raise NotImplementedError("jvp(z, v) = J v")

    def vjp(self, z, u):
        raise NotImplementedError("vjp(z, u) = J' u")

    def parameter_gradient(self, z, u):
        if self.parameters:
            raise NotImplementedError("parameter_gradient(z, u)")
        return {}

    def energy(self, z):
        raise NotImplementedError("energy(z), of a conservative force")

    def _correlate(self, z, u):
        """The gradients in the order of the parameters, one row each."""
        found = self.parameter_gradient(z, u)
        if set(found) != set(self.parameters):
            raise InputError(f"parameter_gradient must return {sorted(self.parameters)}, found {sorted(found)}")
        out = []
        for name, value in self.parameters.items():
            gradient = np.asarray(found[name], np.float64)
            if gradient.shape != np.shape(value):
                raise InputError(f"parameter_gradient: {name} has the shape {gradient.shape} (must be {np.shape(value)})")
            out.append(np.ascontiguousarray(gradient.reshape(1, -1)))
        return out


class EnergyDynamics(Dynamics):
    """F = −∂E/∂z: a subclass has ``energy(z)``, ``force(z)`` and ``jvp(z, v)``; J is symmetric, so Jᵀ u = J u."""

    conservative = True

    def vjp(self, z, u):
        return self.jvp(z, u)


class SquaredError:
    """C = ½ Σ (z − y)² over the columns [begin, end) of the state."""

    def __init__(self, target, begin=0, end=None):
        self.target = np.asarray(target, np.float64)
        self.columns = slice(begin, end)

    def value(self, z):
        return 0.5 * float(np.sum((z[:, self.columns] - self.target) ** 2))

    def gradient(self, z):
        out = np.zeros_like(z)
        out[:, self.columns] = z[:, self.columns] - self.target
        return out


def _start(dynamics, z0):
    return np.zeros((dynamics.rows, dynamics.cols)) if z0 is None else np.ascontiguousarray(z0, np.float64)


def settle(dynamics, z0=None, **options):
    """(z*, report) from z0 (zeros). options: solver (euler, rk4, dopri5, anderson, newton_gmres), step, free_steps, tolerance."""
    _known(options)
    return _core.settle(dynamics, _start(dynamics, z0), options)


def estimate(dynamics, cost, z0=None, estimator="aep_anchored", **options):
    """(gradients by parameter, report) of C(z*) by any estimator; the report has ``state``, ``adjoint``, loss and residuals.

    cost: ``value(z)`` and ``gradient(z)``. options: solver, step, free_steps (200), tolerance, nudged_steps (200), beta, sides,
    points, adjoint_tolerance, adjoint_iterations. One thread; every call of a method takes the GIL.
    """
    _known(options)
    sizes = [int(np.size(value)) for value in dynamics.parameters.values()]
    flat, report = _core.estimate(dynamics, cost, _start(dynamics, z0), estimator, sizes, options)
    shapes = {name: np.shape(value) for name, value in dynamics.parameters.items()}
    return {name: one.reshape(shape) for one, (name, shape) in zip(flat, shapes.items())}, report


def _known(options):
    known = {"solver", "step", "free_steps", "tolerance", "nudged_steps", "beta", "sides", "points", "adjoint_tolerance",
             "adjoint_iterations"}
    if not set(options) <= known:
        raise InputError(f"unknown options {sorted(set(options) - known)} (known: {', '.join(sorted(known))})")


def check(dynamics, cost, z0=None, estimators=None, **options):
    """Rows {estimator, cosine, relative_l2, force_evaluations} against the exact adjoint (a dense solve of Jᵀ a = −∂C/∂z at z*),
    over all parameters as one vector: gradcheck for a force of one's own. A conservative one has ep_contrastive left out."""
    exact, _ = estimate(dynamics, cost, z0, "implicit_dense", **options)
    reference = np.concatenate([one.ravel() for one in exact.values()])
    rows = []
    for name in estimators or [one for one in _core.estimators() if one != "ep_contrastive"]:
        gradient, report = estimate(dynamics, cost, z0, name, **options)
        found = np.concatenate([one.ravel() for one in gradient.values()])
        sizes = np.linalg.norm(found) * np.linalg.norm(reference)
        rows.append({
            "estimator": name,
            "cosine": float(found @ reference / sizes) if sizes > 0 else float("nan"),
            "relative_l2": float(np.linalg.norm(found - reference) / np.linalg.norm(reference)),
            "force_evaluations": report["cost_in_forces"],
        })
    return rows
