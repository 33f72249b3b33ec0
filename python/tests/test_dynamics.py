# SPDX-License-Identifier: Apache-2.0
"""Forces, energies and costs of one's own, in NumPy."""

import numpy as np
import pytest

import nudge


class Tanh(nudge.Dynamics):
    """F = b + tanh(z) W − z: not conservative unless W is symmetric."""

    leak = 1.0

    def __init__(self, w, b):
        super().__init__(b.shape[0], b.shape[1], {"w": w, "b": b})

    def force(self, z):
        return self.parameters["b"] + np.tanh(z) @ self.parameters["w"] - z

    def jvp(self, z, v):
        return (v / np.cosh(z) ** 2) @ self.parameters["w"] - v

    def vjp(self, z, u):
        return (u @ self.parameters["w"].T) / np.cosh(z) ** 2 - u

    def parameter_gradient(self, z, u):
        return {"w": np.tanh(z).T @ u, "b": u}


@pytest.fixture
def system():
    rng = np.random.default_rng(4)
    w = 0.5 * rng.normal(size=(6, 6)) / np.sqrt(6)
    return Tanh(w, rng.normal(size=(3, 6))), nudge.SquaredError(rng.normal(size=(3, 2)), 0, 2)


def test_every_estimator(system):
    dynamics, cost = system
    rows = {row["estimator"]: row for row in nudge.check(dynamics, cost, free_steps=400, nudged_steps=400, tolerance=1e-13)}
    assert set(rows) == set(nudge.estimators()) - {"ep_contrastive", "coupled_learning", "adjoint", "energy_alternating", "finite_nudge", "echo"}
    for name, row in rows.items():
        if name.startswith("ep") or name == "frequency":
            assert row["cosine"] < 1 - 1e-4  # the force has no energy: plain EP is wrong, and that is seen
        else:
            # β = 1e-5: the centred nudge is wrong by β² and by rounding/β, 1e-10 and less; bptt and tracked by what the
            # relaxation leaves, e^(−0.3·400·0.5).
            assert row["relative_l2"] < 1e-6, name


def test_against_differences(system):
    dynamics, cost = system
    gradient, report = nudge.estimate(dynamics, cost, estimator="aep_anchored", free_steps=400, nudged_steps=400)
    assert report["free"]["residual"] < 1e-12
    h, losses = 1e-6, []
    for sign in (1, -1):
        w = dynamics.parameters["w"].copy()
        w[1, 2] += sign * h
        z, _ = nudge.settle(Tanh(w, dynamics.parameters["b"]), free_steps=400)
        losses.append(cost.value(z))
    assert gradient["w"][1, 2] == pytest.approx((losses[0] - losses[1]) / (2 * h), rel=1e-5)


def test_an_energy():
    class Quadratic(nudge.EnergyDynamics):
        """E = ½ zᵀ A z − bᵀ z per row."""

        def force(self, z):
            return self.parameters["b"] - z @ self.parameters["a"]

        def jvp(self, z, v):
            return -v @ self.parameters["a"]

        def energy(self, z):
            return 0.5 * np.sum((z @ self.parameters["a"]) * z) - np.sum(self.parameters["b"] * z)

        def parameter_gradient(self, z, u):
            return {"a": -0.5 * (z.T @ u + u.T @ z), "b": u}

    a = np.diag([1.0, 2.0, 0.5])
    dynamics = Quadratic(1, 3, {"a": a, "b": np.array([[1.0, -1.0, 0.5]])})
    y = np.array([[0.3, 0.1, -0.2]])
    gradient, report = nudge.estimate(dynamics, nudge.SquaredError(y), estimator="ep", free_steps=400, nudged_steps=400)
    z = dynamics.parameters["b"] @ np.linalg.inv(a)
    assert np.allclose(report["state"], z, atol=1e-12)
    assert np.allclose(gradient["b"], (z - y) @ np.linalg.inv(a), rtol=1e-6)  # ∂C/∂b = A⁻¹ (z − y); β² = 1e-10, rounding/β 1e-11


class Linear(nudge.Dynamics):
    """F = x + z A per row."""

    def force(self, z):
        return self.parameters["x"] + z @ self.parameters["a"]

    def jvp(self, z, v):
        return v @ self.parameters["a"]

    def vjp(self, z, u):
        return u @ self.parameters["a"].T

    def parameter_gradient(self, z, u):
        return {"x": u, "a": z.T @ u}


@pytest.mark.parametrize("solver", ["euler", "anderson", "newton_gmres"])
@pytest.mark.parametrize("estimator", ["implicit", "implicit_dense"])
def test_a_force_without_an_equilibrium_has_no_gradient(solver, estimator):
    system = Linear(1, 2, {"x": np.ones((1, 2)), "a": np.diag([0.0, -1.0])})  # dz₁/dt = 1 for ever
    with pytest.raises(nudge.NumericalError, match="no gradient: .*no equilibrium"):
        nudge.estimate(system, nudge.SquaredError(np.zeros((1, 2))), estimator=estimator, solver=solver)


def test_an_estimate_says_whether_its_state_is_an_equilibrium():
    cost = nudge.SquaredError(np.zeros((1, 2)))

    def told(a, z0=None, **options):
        return nudge.estimate(Linear(1, 2, {"x": np.zeros((1, 2)), "a": np.diag(a)}), cost, z0, "implicit_dense", **options)[1]["equilibrium"]

    assert told([-1.0, -2.0])["settled"] == 1
    unstable = told([0.5, -2.0])  # at its unstable point from the start
    assert unstable["unstable"] == 1 and unstable["verdict"].startswith("unstable: 100 %")
    short = told([-1.0, -2.0], np.ones((1, 2)), free_steps=3)
    assert short["settled"] == 0 and short["verdict"].startswith("free phase too short")


def test_one_status_for_one_fact():
    system = Linear(1, 2, {"x": np.ones((1, 2)), "a": np.array([[-1.0, 0.3], [0.2, -2.0]])})
    for solver in ("anderson", "newton_gmres"):
        _, report = nudge.settle(system, solver=solver, tolerance=0.0, free_steps=30)
        assert report["residual"] < 1e-14
        if solver == "newton_gmres":
            assert report["status"] == "converged"  # at rounding, not stalled


def test_what_is_wrong_is_said(system):
    dynamics, cost = system

    class Broken(Tanh):
        def force(self, z):
            return z[:, :3]

    with pytest.raises(nudge.InputError, match=r"force must return an array of shape \(3, 6\)"):
        nudge.settle(Broken(**dynamics.parameters))

    class Raises(Tanh):
        def vjp(self, z, u):
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        nudge.estimate(Raises(**dynamics.parameters), cost)
    with pytest.raises(NotImplementedError):
        nudge.settle(nudge.Dynamics(1, 2))
    with pytest.raises(nudge.InputError, match="unknown options"):
        nudge.estimate(dynamics, cost, betta=1)
    with pytest.raises(nudge.InputError, match="unknown estimator"):
        nudge.estimate(dynamics, cost, estimator="nothing")
