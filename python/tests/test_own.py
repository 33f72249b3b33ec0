# SPDX-License-Identifier: Apache-2.0
"""gradcheck and sweep of a force of one's own."""

import numpy as np
import pytest

import nudge


class Tanh(nudge.Dynamics):
    """F = b + tanh(z) W − z."""

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
    return Tanh(3, 6, {"w": w, "b": rng.normal(size=(3, 6))}), nudge.SquaredError(rng.normal(size=(3, 2)), 0, 2)


def test_gradcheck(system):
    dynamics, cost = system
    before = {name: value.copy() for name, value in dynamics.parameters.items()}
    check = nudge.gradcheck(dynamics, cost=cost, estimators=["ep", "aep_anchored"], free_steps=400, nudged_steps=400)
    assert list(check.table.group.values) == ["all", "w", "b"]
    assert check.cosine("ep", "w") < 1 - 1e-4  # the force has no energy
    # β = 1e-5: wrong by β² and rounding/β, 1e-10 and less; differences by h² and rounding/h, h = 1e-5.
    assert float(check.table.relative_l2.sel(estimator="aep_anchored", group="all")) < 1e-6
    assert float(check.table.relative_l2.sel(estimator="finite_difference", group="all")) < 1e-6
    assert check.diagnostics["verdict"].startswith("settled: residual") and check.diagnostics["abscissa"] < 0
    assert "aep_anchored" in repr(check)
    assert all(np.array_equal(before[name], dynamics.parameters[name]) for name in before)  # as it was


def test_a_wrong_derivative_is_seen(system):
    dynamics, cost = system

    class Wrong(Tanh):
        def parameter_gradient(self, z, u):
            return {"w": 2 * np.tanh(z).T @ u, "b": u}

    wrong = Wrong(3, 6, dynamics.parameters)
    check = nudge.gradcheck(wrong, cost=cost, estimators=["aep_anchored"], free_steps=400)
    assert check.cosine("aep_anchored") > 1 - 1e-6  # estimators agree with each other ...
    assert float(check.table.relative_l2.sel(estimator="finite_difference", group="w")) > 0.4  # ... and not with the loss
    assert repr(check).startswith("WRONG: the gradient of 'w' differs from central differences of the loss by ")

    class Twisted(Tanh):
        def vjp(self, z, u):
            return self.jvp(z, u)

    twisted = nudge.gradcheck(Twisted(3, 6, dynamics.parameters), cost=cost, estimators=["aep_anchored"], free_steps=400)
    assert "WRONG: vjp is not the transpose of jvp" in twisted.diagnostics["verdict"]

    class Claims(Twisted):
        conservative = True

        def energy(self, z):
            return 0.0

    claims = nudge.gradcheck(Claims(3, 6, dynamics.parameters), cost=cost, estimators=["ep"], free_steps=400)
    assert "J is not symmetric, so force has no energy" in claims.diagnostics["verdict"]


def test_a_training_names_the_methods_that_are_missing():
    class Bare(nudge.EnergyDynamics):
        def force(self, z):
            return -z

    with pytest.raises(nudge.InputError, match=r"Bare has no jvp\(z, v\), which returns J v.*; Bare has no energy\(z\)"):
        nudge.train(Bare(4, 2), (np.zeros((8, 2)), np.zeros((8, 2))), train__steps=1)


def test_submodules_load_when_they_are_used():
    with pytest.raises(AttributeError, match="no attribute 'plots'"):
        nudge.plots
    pytest.importorskip("matplotlib")
    assert nudge.plot.losses


def test_an_unstable_force_is_said(system):
    dynamics, cost = system
    check = nudge.gradcheck(Tanh(3, 6, {"w": dynamics.parameters["w"], "b": dynamics.parameters["b"]}), cost=cost,
                            estimators=["implicit"], finite_difference_entries=0, step=2.5, free_steps=1)
    assert check.diagnostics["verdict"].startswith("the steps overshoot a stable equilibrium")
    assert "abscissa" not in check.diagnostics and check.diagnostics["equilibrium"]["ended"] == "max_steps"  # one step reaches none


def test_sweep(system):
    dynamics, cost = system
    table = nudge.sweep(dynamics, cost=cost, estimators=["aep_anchored", "ep"], free_steps=300, nudged_steps=300,
                        sweep={"grid": {"beta": [1e-4, 1e-1], "noise": [0.0, 1e-3]}, "seeds": [1, 2]})
    assert table.cosine.dims == ("estimator", "seed", "beta", "noise")
    quiet = table.relative_l2.sel(estimator="aep_anchored", seed=1, noise=0.0)
    assert float(quiet[0]) < 1e-6 < float(quiet[1])  # a centred nudge is wrong by about β²
    noisy = table.relative_l2.sel(estimator="aep_anchored", noise=1e-3)
    assert float(noisy.sel(beta=1e-4).min()) > float(noisy.sel(beta=1e-1).max())  # noise over 2β: small nudges drown
    assert not np.array_equal(noisy[0], noisy[1])  # seeds differ
    again = nudge.sweep(dynamics, cost=cost, free_steps=300, nudged_steps=300,
                        sweep={"grid": {"beta": [1e-4, 1e-1], "noise": [0.0, 1e-3]}, "seeds": [1, 2]})
    assert np.array_equal(again.cosine.sel(estimator="aep_anchored"), table.cosine.sel(estimator="aep_anchored"))


def test_what_is_wrong_is_said(system, tmp_path):
    dynamics, cost = system
    with pytest.raises(nudge.InputError, match="no cost"):
        nudge.gradcheck(dynamics)
    with pytest.raises(nudge.InputError, match="no file is written"):
        nudge.gradcheck(dynamics, out=tmp_path / "x.h5", cost=cost)
    with pytest.raises(nudge.InputError, match="no grid"):
        nudge.sweep(dynamics, cost=cost)
    with pytest.raises(nudge.InputError, match="unknown mode"):
        nudge.sweep(dynamics, cost=cost, sweep={"grid": {"beta": [1e-3]}, "mode": "sobol"})
    with pytest.raises(nudge.InputError, match="unknown options"):
        nudge.sweep(dynamics, cost=cost, sweep={"grid": {"betta": [1e-3]}})
    for twice in ({"grid": {"beta": [1e-3, 0.001]}}, {"grid": {"beta": [1e-3]}, "seeds": [1, 2, 1]}):
        with pytest.raises(nudge.InputError, match="again"):
            nudge.sweep(dynamics, cost=cost, sweep=twice)
    with pytest.raises(nudge.InputError, match="again"):
        nudge.gradcheck(dynamics, cost=cost, estimators=["ep", "ep"])


@pytest.mark.parametrize("wrong, message", [(lambda g: None, "returned NoneType"), (lambda g: {"w": g["w"]}, "must return"),
                                            (lambda g: {**g, "b": g["b"] + 0j}, "b is complex")])
def test_a_parameter_gradient_that_is_none_is_said(system, wrong, message):
    dynamics, cost = system

    class Wrong(Tanh):
        def parameter_gradient(self, z, u):
            return wrong(super().parameter_gradient(z, u))

    with pytest.raises(nudge.InputError, match=message):
        nudge.gradcheck(Wrong(3, 6, dynamics.parameters), cost=cost, estimators=["aep_anchored"])
