# SPDX-License-Identifier: Apache-2.0
"""Costs and estimators of one's own, under training and gradcheck."""

import numpy as np

__all__ = ["Cost", "Estimator"]


class Cost:
    """A cost of your own, in place of the network's, for systems and networks of samples (hopfield, resistive, netlist, ...).

    y is the node that the cost compares with the targets, or the logits where the network has a read-out. Targets of classes are 1 for the class and 0 for the others.
    """

    def value(self, y, target):
        """Returns C(y, target) summed over rows. y, target: arrays (rows, outputs) of the rows that count."""
        raise NotImplementedError("value(y, target)")

    def gradient(self, y, target):
        """Returns ∂C/∂y, an array like y."""
        raise NotImplementedError("gradient(y, target)")

    def at(self, target, begin=0, end=None):
        """Returns this cost at one target and columns of the state, for ``nudge.estimate`` and ``nudge.gradcheck`` of a ``Dynamics``."""
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
    """A way of your own to get a gradient from a circuit at its free equilibrium, which the program has settled.

    A subclass has ``estimate(example)``. The example has

        state                        z* (rows, cols)
        input                        what clamps the network (rows, inputs)
        beta, step, steps            β per row, ε, steps of a nudged phase
        force(z)                     F(z), by reads of a nudged phase
        jvp(v), vjp(u)               J v and Jᵀ u at z*
        cost(z)                      C, summed over rows
        cost_gradient(z)             ∂C/∂z
        output                       slice of the columns of the cost
        relax(force, start=None, steps=None, step=None, adjoint=False)
                                     where the network's relaxation under force(z) ends (start: z*)
        hold(values, start=None)
                                     where the circuit rests with its outputs clamped at values (rows, outputs)
        correlate(a)                 adds ⟨a, ∂F/∂θ⟩ at z* to the gradient
        energy_gradient(z, scale)    adds scale · ∂E/∂θ(z), of conservative systems that have it

    - keeps: how many numbers it keeps of every sample, from one visit of a training to the next. ``example.kept`` (rows, keeps) has those of the samples side by side, 0 at
      first. ``example.visited`` (rows,) says whether they were there before. What ``kept`` holds afterwards is kept, in checkpoints too. The task must be classification or regression.
    - keeps_of_parameters: how many arrays of the shape of every parameter it keeps from one batch to the next, for ``finish``. They are in checkpoints too.
    - nudge: "live", "transposed" or "none": how it nudges, for the config's rules and the noise of a nudge.
    - beta, beta_in_float: what ``beta = auto`` is in double, and in float without noise.

    >>> class Clamped(nudge.Estimator):                        # coupled learning
    ...     beta = 1e-4
    ...     def estimate(self, example):                       # outputs held at v − η ∂C/∂v
    ...         slope = example.cost_gradient(example.state)
    ...         target = (example.state - example.beta * slope)[:, example.output]
    ...         example.energy_gradient(example.hold(target), 1 / example.beta)
    ...         example.energy_gradient(example.state, -1 / example.beta)
    """

    nudge = "live"
    beta = 1e-5
    beta_in_float = 1e-4
    keeps = 0
    keeps_of_parameters = 0

    def estimate(self, example):
        """Returns the adjoint a ≈ dC/dx_in (rows, cols), which then correlates locally: ⟨a, ∂F/∂θ⟩.

        Or returns None, having added its gradient by ``example.correlate`` or ``example.energy_gradient``.
        """
        raise NotImplementedError("estimate(example)")

    def finish(self, gradient, kept, before):
        """Returns the gradient of a parameter to learn from, for estimators with ``keeps_of_parameters``.

        - gradient: summed over a batch whose step is taken.
        - kept: the list of arrays, 0 at first, to be changed in place.
        - before: number of batches finished before.
        """
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
