# SPDX-License-Identifier: Apache-2.0
"""Where the parameters of a network of one's own start: from arrays, from functions of a generator, or from ``initial``."""

import warnings

import numpy as np
import pytest

import nudge

DATA = (np.linspace(-1, 1, 40).reshape(20, 2), np.linspace(0.1, 0.9, 20))
SHORT = {"estimator": "aep_transposed", "train__steps": 2, "train__batch": 4, "relaxation__free_steps": 40, "relaxation__nudged_steps": 40,
         "relaxation__step": 0.5, "task__references": "off", "threads": 1}


class Layer(nudge.Dynamics):
    """F = x w + b − z: rows are samples, the equilibrium is x w + b."""

    leak = 1.0

    def force(self, z):
        return self.input @ self.parameters["w"] + self.parameters["b"] - z

    def jvp(self, z, v):
        return -v

    def vjp(self, z, u):
        return -u

    def parameter_gradient(self, z, u):
        return {"w": self.input.T @ u, "b": u.sum(axis=0)}


def weights(rng):
    return rng.normal(size=(2, 1))


def start(system, seed):
    """The parameters that a run with this seed begins with."""
    return system.initial(np.random.default_rng(seed))


def test_a_function_is_drawn_anew_for_every_seed():
    system = Layer(1, 1, {"w": weights, "b": np.full(1, 0.5)})
    runs = {seed: nudge.train(system, DATA, **SHORT, train__learning_rate=1e-12, seed=seed).parameters for seed in (1, 2, 3)}
    # The rate moves nothing: what a run ends with is what it started from.
    for seed, found in runs.items():
        assert np.allclose(found.w.values.ravel(), start(system, seed)["w"].ravel(), atol=1e-9) and found.b.values.ravel() == pytest.approx(0.5)
    assert np.allclose(runs[1].w.values, system.parameters["w"])  # the object has the draw of seed 1
    assert not np.allclose(runs[1].w.values, runs[2].w.values) and not np.allclose(runs[2].w.values, runs[3].w.values)
    again = nudge.train(system, DATA, **SHORT, train__learning_rate=1e-12, seed=2).parameters
    assert np.array_equal(again.w, runs[2].w)


def test_a_further_parameter_changes_no_others_numbers():
    one = Layer(1, 1, {"w": weights, "b": np.zeros(1)})
    two = Layer(1, 1, {"b": weights, "w": weights})
    for seed in (1, 7):
        assert np.array_equal(start(one, seed)["w"], start(two, seed)["w"])
        assert not np.array_equal(start(two, seed)["w"], start(two, seed)["b"])
    rng = np.random.default_rng(5)  # without functions the generator stays as it is, for an initial() that draws behind it
    nudge.Dynamics(1, 1, {"w": np.ones((2, 1))}).initial(rng)
    assert rng.normal() == np.random.default_rng(5).normal()


def test_draws_have_the_law_that_was_written():
    """Means over seeds of a normal law: its standard deviation is 1/sqrt(n) of 2 numbers a seed, and 4 of them are asked (6e-5 by chance)."""
    system, n = Layer(1, 1, {"w": weights, "b": np.zeros(1)}), 400
    drawn = np.concatenate([start(system, seed)["w"].ravel() for seed in range(n)])
    assert abs(drawn.mean()) < 4 / np.sqrt(2 * n) and abs(drawn.var() - 1) < 4 * np.sqrt(2 / (2 * n))


def test_a_sweep_over_seeds_that_start_alike_says_so():
    plan = {"seeds": [1, 2], "grid": {"train.learning_rate": [1e-3]}}
    with pytest.warns(RuntimeWarning, match="all seeds start from the same parameters of Layer"):
        nudge.sweep(Layer(1, 1, {"w": np.ones((2, 1)), "b": np.zeros(1)}), DATA, **SHORT, sweep=plan)

    class Drawn(Layer):
        def initial(self, rng):
            return {"w": rng.normal(size=(2, 1)), "b": np.zeros(1)}

    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for system in (Layer(1, 1, {"w": weights, "b": np.zeros(1)}), Drawn(1, 1, {"w": np.ones((2, 1)), "b": np.zeros(1)})):
            found = nudge.sweep(system, DATA, **SHORT, sweep=plan)
            assert len(set(found.points.validation_loss.values)) == 2
        nudge.sweep(Layer(1, 1, {"w": np.ones((2, 1)), "b": np.zeros(1)}), DATA, **SHORT, sweep={**plan, "seeds": [1]})


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_functions_of_torch_and_jax_take_them_too(library):
    pytest.importorskip(library)
    made = getattr(nudge, library).dynamics(lambda z, p: p["b"] - z, {"b": lambda rng: rng.uniform(size=(1, 3))}, (1, 3))
    assert made.draws and not np.array_equal(start(made, 1)["b"], start(made, 2)["b"])
    assert np.allclose(made.force(np.zeros((1, 3))), made.parameters["b"])
