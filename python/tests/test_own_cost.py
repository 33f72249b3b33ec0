# SPDX-License-Identifier: Apache-2.0
"""Costs and clampings written in Python on the networks of the program."""

import os

import numpy as np
import pytest

import nudge

HERE = os.path.dirname(os.path.abspath(__file__))
GRID = os.path.join(HERE, "..", "..", "tests", "training", "netlists", "small.cir")

SMALL = {"train__steps": 4, "train__batch": 6, "train__warmup": 1, "train__evaluate_every": 2, "train__checkpoint_every": 2,
         "data__validation_samples": 12, "task__kind": "classification", "task__references": "off", "precision": "double", "threads": 2}
HOPFIELD = {"network__kind": "hopfield", "hopfield__form": "energy", "hopfield__activation": "tanh", "hopfield__hidden": [10],
            "relaxation__free_steps": 300, "relaxation__nudged_steps": 300}
NETWORKS = {
    "hopfield": HOPFIELD,
    "read-out": {**HOPFIELD, "hopfield__cost": "cross_entropy"},
    "resistive": {"network__kind": "resistive", "resistive__diode": "none", "resistive__hidden": [10], "resistive__gain": [2.0],
                  "relaxation__free_steps": 800, "relaxation__nudged_steps": 800},
    "netlist": {"network__kind": "netlist", "netlist__file": GRID, "netlist__inputs": [f"v{i}?" for i in range(7)],
                "netlist__outputs": [f"o{i}" for i in range(10)], "netlist__conductance": "1 mS", "netlist__initial_spread": 0.1,
                "nudge__cost_current": "frozen", "relaxation__solver": "direct"},
}


class Quartic(nudge.Cost):
    """Not a quadratic: a live nudge by it is no conductance."""

    def value(self, y, target):
        return 0.25 * float(np.sum((y - target) ** 4))

    def gradient(self, y, target):
        return (y - target) ** 3


class Squared(nudge.Cost):
    def value(self, y, target):
        return 0.5 * float(np.sum((y - target) ** 2))

    def gradient(self, y, target):
        return y - target


class CrossEntropy(nudge.Cost):
    """Of logits."""

    @staticmethod
    def shares(y):
        e = np.exp(y - y.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def value(self, y, target):
        return -float(np.sum(target * np.log(self.shares(y))))

    def gradient(self, y, target):
        return self.shares(y) - target


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_of_an_own_cost(name):
    check = nudge.gradcheck(None, cost=Quartic(), estimator="ep", **SMALL, **NETWORKS[name], gradcheck__estimators=["ep", "implicit"],
                            gradcheck__finite_difference_entries=4)
    # Central differences of the settled cost: h^2 of truncation and rounding/h, both 1e-9 of numbers of the size of 1. ep errs by
    # beta^2 = 1e-10 and rounding/beta = 1e-11 of states, 1e-6 of a gradient that is a hundredth of them.
    assert check.cosine("finite_difference") > 1 - 1e-8 and check.cosine("ep") > 1 - 1e-6


@pytest.mark.parametrize("name,cost", [("hopfield", Squared), ("resistive", Squared), ("read-out", CrossEntropy)])
def test_the_costs_of_the_program_written_again_train_the_same(name, cost):
    ours = nudge.train(None, **SMALL, **NETWORKS[name], estimator="ep")
    own = nudge.train(None, cost=cost(), **SMALL, **NETWORKS[name], estimator="ep")
    # The same sums in another order: rounding 1e-16, over beta = 1e-5 in the nudged phases, in four steps.
    assert np.allclose(own.train.loss, ours.train.loss, rtol=1e-8, atol=0)
    assert own.config["network"]["cost"] == "own" and own.config["own"]["cost"] == cost.__name__
    assert own.summary["validation_accuracy"] == ours.summary["validation_accuracy"]


def test_it_acts_on_devices_and_goes_on_to_the_same_bits(tmp_path):
    settings = {**SMALL, **HOPFIELD, "estimator": "aep_transposed", "device__preset": "ecram", "beta": 0.1}
    whole = nudge.train(None, cost=Quartic(), **settings)
    path = tmp_path / "run.h5"
    nudge.train(None, cost=Quartic(), out=path, **settings, progress=lambda event: event["done"] < 2)
    with pytest.raises(nudge.InputError, match="code of the program that ran it"):
        nudge.resume(path)
    assert np.array_equal(nudge.resume(path, cost=Quartic()).train.loss, whole.train.loss)
    assert not np.array_equal(nudge.train(None, **settings).train.loss, whole.train.loss)


class Clamped(nudge.Estimator):
    """Coupled learning, as the estimator of that name."""

    beta = 0.1

    def estimate(self, example):
        target = (example.state - example.beta * example.cost_gradient(example.state))[:, example.output]
        example.energy_gradient(example.hold(target), 1 / example.beta)
        example.energy_gradient(example.state, -1 / example.beta)


@pytest.mark.parametrize("cost", [None, Quartic()])
def test_a_clamping_on_a_netlist_is_coupled_learning(cost):
    settings = {key: value for key, value in {**SMALL, **NETWORKS["netlist"]}.items() if key != "nudge__cost_current"}
    ours = nudge.train(None, cost=cost, **settings, estimator="coupled_learning", beta=0.1)
    own = nudge.train(None, cost=cost, **settings, estimator=Clamped(), beta=0.1)
    assert np.allclose(own.train.loss, ours.train.loss, rtol=1e-12, atol=0)


def test_a_clamping_of_a_network_that_relaxes():
    settings = {**SMALL, **NETWORKS["resistive"]}
    check = nudge.gradcheck(None, estimator=Clamped(), **settings, gradcheck__estimators=["own"], gradcheck__finite_difference_entries=0)
    assert 0.3 < check.cosine("own") < 1 - 1e-4  # a direction that descends, not the gradient (Stern et al., PRX 11, 021045 (2021))


def test_what_has_no_place_for_a_cost_says_so():
    with pytest.raises(nudge.InputError, match="must be auto for network.kind = block: the loss of symbols is in nats"):
        nudge.train(None, cost=Quartic(), train__steps=1)
    with pytest.raises(nudge.InputError, match="Use auto, nudge.cost_current = frozen"):
        nudge.train(None, cost=Quartic(), **{**SMALL, **NETWORKS["netlist"], "nudge__cost_current": "live"}, estimator="ep")
    with pytest.raises(nudge.InputError, match="code of the program that ran it"):
        nudge.train(None, **SMALL, **HOPFIELD, network__cost="own")

    class Wrong(Quartic):
        def gradient(self, y, target):
            return y[:1]

    with pytest.raises(nudge.InputError, match="gradient of the cost must return an array of shape"):
        nudge.train(None, cost=Wrong(), **SMALL, **HOPFIELD, estimator="ep")


def test_what_a_cost_keeps_does_not_change_and_its_target_can_only_be_read():
    kept = []

    class Keeps(Squared):
        def gradient(self, y, target):
            if len(kept) % 3:  # every third array is let go, and may come again
                kept.append((y, y.copy(), target, target.copy()))
            else:
                kept.append((y.copy(), y.copy(), target, target.copy()))
            assert not target.flags.writeable
            return super().gradient(y, target)

    ours = nudge.train(None, cost=Keeps(), estimator="ep", **HOPFIELD, **SMALL)
    assert len(kept) > 100
    assert all(np.array_equal(y, then) and np.array_equal(target, was) for y, then, target, was in kept)
    plain = nudge.train(None, cost=Squared(), estimator="ep", **HOPFIELD, **SMALL)
    assert ours.summary["validation_loss"] == plain.summary["validation_loss"]
