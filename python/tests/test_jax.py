# SPDX-License-Identifier: Apache-2.0
"""nudge.jax: forces, energies and costs of JAX functions."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed: nothing of nudge.jax is tested")

import jax.numpy as jnp  # noqa: E402

import nudge  # noqa: E402
import nudge.jax  # noqa: E402


def relative(found, expected):
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def test_a_force():
    rng = np.random.default_rng(2)
    w, b, target = 0.3 * rng.normal(size=(6, 6)), rng.normal(size=(3, 6)), rng.normal(size=(3, 6))

    def force(z, p):
        return p["b"] + jnp.tanh(z) @ p["w"] - z

    system = nudge.jax.dynamics(force, {"w": w, "b": b}, (3, 6))
    cost = nudge.jax.cost(lambda z: 0.5 * jnp.sum((z - target) ** 2))
    assert system.force(b).dtype == np.float64 and not jax.config.jax_enable_x64  # double inside, JAX's setting as it was
    check = nudge.gradcheck(system, cost=cost, estimators=["aep_anchored", "dyadic"], free_steps=300, nudged_steps=300)
    for name in ("aep_anchored", "dyadic", "finite_difference"):  # as in test_own.py
        assert float(check.table.relative_l2.sel(estimator=name, group="all")) < 1e-6, name

    def settled_loss(w):
        z = jnp.zeros((3, 6))
        for _ in range(300):
            z = z + 0.3 * force(z, {"w": w, "b": b})
        return 0.5 * jnp.sum((z - target) ** 2)

    gradient, _ = nudge.estimate(system, cost, free_steps=300, nudged_steps=300)
    with nudge.jax.enable_x64(True):
        by_jax = np.asarray(jax.grad(settled_loss)(jnp.asarray(w)))
    assert by_jax.dtype == np.float64 and relative(gradient["w"], by_jax) < 1e-6  # β² and rounding/β, 1e-10 and less


def test_an_energy():
    rng = np.random.default_rng(3)
    w = 0.2 * rng.normal(size=(4, 4))
    system = nudge.jax.energy(lambda z, p: 0.5 * jnp.sum(z ** 2) - jnp.sum(jnp.log(jnp.cosh(z @ p["w"]))) - jnp.sum(z), {"w": w},
                              (2, 4))
    z = rng.normal(size=(2, 4))
    assert system.conservative
    expected = -z + np.tanh(z @ w) @ w.T + 1
    assert relative(system.force(z), expected) < 1e-14
    u, v = rng.normal(size=(2, 2, 4))
    assert np.sum(u * system.jvp(z, v)) == pytest.approx(np.sum(v * system.vjp(z, u)), rel=1e-13)
    plain, _ = nudge.estimate(system, nudge.SquaredError(np.zeros((2, 4))), estimator="ep", free_steps=300, nudged_steps=300)
    exact, _ = nudge.estimate(system, nudge.SquaredError(np.zeros((2, 4))), estimator="implicit_dense", free_steps=300)
    assert relative(plain["w"], exact["w"]) < 1e-6
    assert nudge.jax.cost(lambda z: jnp.sum(z)).value(np.ones((2, 4))) == 8.0


def test_an_energy_learns_on_noisy_devices():
    w = 0.2 * np.random.default_rng(0).normal(size=(64, 10))

    def energy(z, theta, x):
        return 0.5 * jnp.sum(z**2) - jnp.sum((x @ theta["w"]) * z)

    system = nudge.jax.energy(energy, {"w": w}, (1, 10))
    device = {"device__preset": "ecram", "device__read_noise": 0.01, "hardware__level": "ideal", "nudge__below_noise": True}
    runs = [nudge.train(system, task__kind="classification", train__steps=3, train__batch=4, train__warmup=1, estimator="ep", beta=0.1,
                        **device, seed=seed) for seed in (1, 1, 2)]
    losses = [run.train.loss.values for run in runs]
    assert np.isfinite(losses[0]).all() and np.array_equal(losses[0], losses[1]) and not np.array_equal(losses[0], losses[2])
