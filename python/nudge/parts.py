# SPDX-License-Identifier: Apache-2.0
"""Costs and estimators of one's own, under training and gradcheck."""

import numpy as np

__all__ = ["Cost", "Estimator"]


class Cost:
    """A cost of the output of a system of one's own or of a network of the program that is fed samples (hopfield, resistive, netlist, ...), in
    place of its own: ``value(y, target)`` summed over rows, ``gradient(y, target)`` = ∂C/∂y, arrays (rows, outputs) of the rows that count. y
    is the node that the cost compares with the targets, or, where the network has a read-out, its logits. Targets of classes are 1 for the
    class and 0 for the others."""

    def value(self, y, target):
        raise NotImplementedError("value(y, target)")

    def gradient(self, y, target):
        raise NotImplementedError("gradient(y, target)")

    def at(self, target, begin=0, end=None):
        """Of one target and columns of the state, as ``nudge.estimate`` and ``nudge.gradcheck`` of a Dynamics take it."""
        return _At(self, np.asarray(target, np.float64), slice(begin, end))


class _At:
    def __init__(self, cost, target, columns):
        self.cost, self.target, self.columns = cost, target, columns

    def value(self, z):
        return float(self.cost.value(z[:, self.columns], self.target))

    def gradient(self, z):
        out = np.zeros_like(z)
        out[:, self.columns] = self.cost.gradient(z[:, self.columns], self.target)
        return out


class Estimator:
    """How to get a gradient from a circuit at its free equilibrium, which the program has settled: a subclass has ``estimate(example)``.

    It returns the adjoint a ≈ dC/dx_in (rows, cols), which then correlates locally, ⟨a, ∂F/∂θ⟩; or None, having added its gradient by
    ``example.correlate`` or ``example.energy_gradient``. The example has

        state        z* (rows, cols)                       beta, step, steps   of the config: β per row, ε, steps of a nudged phase
        force(z)     F(z), by reads of a nudged phase      jvp(v), vjp(u)      J v and Jᵀ u at z*
        cost(z)      C, summed over rows                   cost_gradient(z)    ∂C/∂z
        output       slice of the columns of the cost
        relax(force, start=None, steps=None, step=None, adjoint=False)    where the network's relaxation under force(z) ends (start: z*)
        hold(values, start=None)                           where the circuit rests with its outputs clamped at values (rows, outputs)
        correlate(a)                                       adds ⟨a, ∂F/∂θ⟩ at z* to the gradient
        energy_gradient(z, scale)                          adds scale · ∂E/∂θ(z), of conservative systems that have it

    keeps: how many numbers the estimator keeps of every sample, from one visit of a training to the next. ``example.kept`` (rows, keeps) has
    those of the samples side by side, 0 at first, ``example.visited`` (rows,) whether they were there before; what it holds afterwards is kept, in
    checkpoints too. The samples of the task need numbers: classification and regression.

    keeps_of_parameters: how many arrays of the shape of every parameter the estimator keeps from one batch to the next. Its
    ``finish(gradient, kept, before)`` then gets the gradient of each parameter, summed over a batch whose step is taken, that list of
    arrays, 0 at first, which it changes in place, and the number of batches finished before; it returns the gradient to learn from. In
    checkpoints too.

    nudge: "live", "transposed" or "none", how it nudges (what the config's rules and the noise of a nudge ask for). beta, beta_in_float: what
    ``beta = auto`` is in double and in float without noise.

    >>> class Clamped(nudge.Estimator):                        # outputs held at v − η ∂C/∂v: coupled learning
    ...     beta = 1e-4
    ...     def estimate(self, example):
    ...         target = (example.state - example.beta * example.cost_gradient(example.state))[:, example.output]
    ...         example.energy_gradient(example.hold(target), 1 / example.beta)
    ...         example.energy_gradient(example.state, -1 / example.beta)
    """

    nudge = "live"
    beta = 1e-5
    beta_in_float = 1e-4
    keeps = 0
    keeps_of_parameters = 0

    def estimate(self, example):
        raise NotImplementedError("estimate(example)")

    def finish(self, gradient, kept, before):
        raise NotImplementedError("finish(gradient, kept, before)")

    def _estimate(self, core):
        example = _Example(core)
        if self.keeps:
            example.kept, example.visited = core.kept, core.visited[:, 0] > 0
        found = self.estimate(example)
        if self.keeps:
            core.keep(np.ascontiguousarray(example.kept, np.float64))
        return None if found is None else np.ascontiguousarray(found, np.float64)

    def _finish(self, gradient, kept, before):
        kept = [np.array(one) for one in kept]
        return [np.ascontiguousarray(one, np.float64) for one in (self.finish(gradient, kept, int(before)), *kept)]


class _Example:
    def __init__(self, core):
        self._core = core
        self.state, self.beta, self.step, self.steps = core.state, core.beta, core.step, core.steps
        self.output = slice(*core.output)

    def __getattr__(self, name):
        return getattr(self._core, name)

    def hold(self, values, start=None):
        return self._core.hold(np.ascontiguousarray(values, np.float64), np.ascontiguousarray(self.state if start is None else start, np.float64))

    def relax(self, force, start=None, steps=None, step=None, adjoint=False):
        """The state where `force(z)`, an array like z, ends after `steps` steps of the network's own relaxation.

        Solver, schedule, amplifiers and box are those of its nudged phases. `adjoint=True`: z is no state, and kept in no box."""
        return self._core.relax(force, np.ascontiguousarray(self.state if start is None else start, np.float64),
                                self.steps if steps is None else steps, self.step if step is None else step, adjoint)
