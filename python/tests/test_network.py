# SPDX-License-Identifier: Apache-2.0
"""Network: parameters, settling and gradients as arrays."""

import numpy as np
import pytest

import nudge

SAMPLES = {
    "precision": "double", "threads": 1, "seed": 2,
    "network.kind": "hopfield", "task.kind": "classification", "hopfield.hidden": [12], "hopfield.form": "projected",
    "train": {"batch": 4}, "relaxation": {"free_steps": 200, "nudged_steps": 200, "tolerance": 1e-10},
}


def cosine(a, b):
    a, b = (np.concatenate([one.ravel() for one in d.values()]) for d in (a, b))
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def test_parameters_are_views_that_follow(block):
    net = nudge.Network(block)
    view = net.parameters["Wm"]
    assert view.dtype == np.float32 and not view.flags.writeable and view.shape == (8, 12)
    net.parameters["Wm"] = np.ones((8, 12))
    assert (view == 1).all()  # the same memory
    net.update({"Wm": np.full((8, 12), 0.5)})
    assert (view == 1.5).all()
    assert len(net.parameters) == len(net.groups) and net.groups["Wh"] and not net.groups["Wm"]
    with pytest.raises(ValueError):
        view[0, 0] = 3


def test_what_does_not_fit(block):
    net = nudge.Network(block)
    for values, message in (({"Wn": np.ones((8, 12))}, "no parameter Wn"), ({"Wm": np.ones((12, 8))}, "the transpose"),
                            ({"Wm": np.full((8, 12), np.nan)}, "not finite"), ({"Wm": np.ones((2, 2, 2))}, "3 dimensions")):
        with pytest.raises(nudge.InputError, match=message):
            net.load_state_dict(values, strict=False)
    with pytest.raises(nudge.InputError, match="no tok"):
        net.load_state_dict({"Wm": np.ones((8, 12))})
    x, y = net.batch()
    with pytest.raises(nudge.InputError, match="did you mean"):
        net.gradient(x, y, estimator="aep_anchord")
    with pytest.raises(nudge.InputError, match="settled when the network is made"):
        net.gradient(x, y, model__channels=4)
    with pytest.raises(nudge.InputError, match="must be \\(examples, 6\\)"):
        net.settle(x[:, :3])
    with pytest.raises(nudge.InputError, match="symbols from"):
        net.settle(x + 10000)
    with pytest.raises(nudge.InputError, match="give integers"):
        net.settle(x.astype(float))


def test_state_dict_round_trip(block):
    first, second = nudge.Network(block), nudge.Network(block, seed=99)
    assert not np.array_equal(first.parameters["Wm"], second.parameters["Wm"])
    second.load_state_dict(first.state_dict())
    for name, value in first.parameters.items():
        assert np.array_equal(value, second.parameters[name]), name


def test_training_by_hand_is_training(block):
    """One step of gradient descent by the program and by hand, from the same weights and batch: the same bits."""
    settings = {"train__steps": 1, "train__optimizer": "sgd", "train__schedule": "constant", "train__warmup": 0,
                "train__learning_rate": 0.01, "train__weight_decay": 0, "train__momentum": 0, "damping__control": False,
                "growth__strength": 0, "memory__bound": "none"}
    known = set(nudge.keys())
    settings = {name: value for name, value in settings.items() if name.replace("__", ".") in known}
    net = nudge.Network(block, **settings)
    gradient, _ = net.gradient(*net.batch(0), step=0)
    assert all(np.isfinite(g).all() for g in gradient.values())
    assert sum(float(np.abs(g).sum()) for g in gradient.values()) > 0
    loss = net.evaluate(*net.batch(0))[1]["loss"]
    net.update({name: -0.5 * g for name, g in gradient.items()})
    assert net.evaluate(*net.batch(0))[1]["loss"] < loss


def test_settle_and_gradient_of_a_block(block):
    net = nudge.Network(block, precision="double", relaxation__free_steps=400, relaxation__nudged_steps=400)
    x, y = net.batch(1)
    settled = net.settle(x)
    assert settled.state.shape == (3, 6, 8) and settled.residual.max() < 1e-8
    exact, report = net.gradient(x, y, estimator="implicit")
    found, _ = net.gradient(x, y, estimator="aep_transposed", beta=1e-5)
    assert cosine(found, exact) > 1 - 1e-6  # error of a centred nudge: β², and rounding/β = 1e-11
    assert np.array_equal(report["state"], settled.state)
    # The gradient is that of the loss: central differences in one entry of W_m, h = 1e-6, error h² and 1e-16/h.
    h, name = 1e-6, "Wm"
    losses = []
    for sign in (1, -1):
        changed = np.array(net.parameters[name])
        changed[2, 3] += sign * h
        other = nudge.Network(block, precision="double", relaxation__free_steps=400, weights={**net.state_dict(), name: changed})
        losses.append(other.evaluate(x, y)[1]["loss"])
    assert exact[name][2, 3] == pytest.approx((losses[0] - losses[1]) / (2 * h), rel=1e-5, abs=1e-9)


def test_samples():
    net = nudge.Network(SAMPLES)
    x, y = net.batch(0)
    assert x.shape == (4, 64) and y.shape == (4,)
    outputs, report = net.evaluate(x, y)
    alone, _ = net.evaluate(x)
    assert np.array_equal(outputs, alone) and report["rows"] == 4 and report["loss"] > 0
    plain, _ = net.gradient(x, y, estimator="ep")
    exact, _ = net.gradient(x, y, estimator="implicit")
    assert cosine(plain, exact) > 1 - 1e-6  # it has an energy: plain EP is exact to β² (1e-5 in double)
    with pytest.raises(nudge.InputError, match="labels from"):
        net.evaluate(x, y + 10)
    with pytest.raises(nudge.InputError, match="no row counts"):
        net.gradient(x, None)


def test_an_estimator_of_ones_own():
    class Adjoint(nudge.Estimator):
        nudge = "none"

        def estimate(self, example):
            g = example.cost_gradient(example.state)
            return example.relax(lambda a: example.vjp(a) + g, np.zeros_like(g), steps=400, step=0.3)

    net = nudge.Network(SAMPLES, hopfield__form="energy", relaxation__free_steps=400)
    x, y = net.batch(0)
    own, _ = net.gradient(x, y, estimator=Adjoint())
    exact, _ = net.gradient(x, y, estimator="implicit")
    assert cosine(own, exact) > 1 - 1e-6  # both end within 1e-6 of the solution
    with pytest.raises(nudge.InputError, match="estimator: int .must be a name or a nudge.Estimator"):
        net.gradient(x, y, estimator=3)
    with pytest.raises(nudge.InputError, match="code of the program"):
        net.gradient(x, y, estimator="own")


def test_threads_do_not_change_bits(block):
    net = nudge.Network(block)
    x, y = net.batch(0)
    one, two = net.gradient(x, y, threads=1)[0], net.gradient(x, y, threads=2)[0]
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_pull_back_is_the_gradient_of_a_linear_loss(block):
    """By central differences of ⟨u, z*⟩ in an entry of x and of W_q (h = 1e-6: error h² and 1e-14/h)."""
    net = nudge.Network(block, precision="double", relaxation__free_steps=400)
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=(2, 6, net.inputs)), rng.normal(size=(2, *net.shape))
    gradient, x_gradient, reports = net.pull_back(x, u, estimator="implicit")
    assert len(reports) == 2 and not gradient["Wh"].any() and not gradient["tok"].any()

    def loss(net, x):
        return float((net.settle(x).state * u).sum())

    h = 1e-6
    ahead, behind = x.copy(), x.copy()
    ahead[1, 2, 3] += h
    behind[1, 2, 3] -= h
    assert x_gradient[1, 2, 3] == pytest.approx((loss(net, ahead) - loss(net, behind)) / (2 * h), rel=1e-5, abs=1e-7)
    w = np.array(net.parameters["Wq"])
    losses = []
    for sign in (1, -1):
        changed = w.copy()
        changed[1, 4] += sign * h
        net.parameters["Wq"] = changed
        losses.append(loss(net, x))
    assert gradient["Wq"][1, 4] == pytest.approx((losses[0] - losses[1]) / (2 * h), rel=1e-5, abs=1e-7)


def test_devices_of_a_network(block):
    net = nudge.Network(block, device__model="soft_bounds", device__pulses=500, device__read_noise=0.01)
    facts = net.devices("Wm")
    g, n = facts["conductance"], facts["pulses"]
    assert g.shape == n.shape and (g > 0).all() and facts["noisy"] and not g.flags.writeable
    before = n.sum()
    net.update({"Wm": np.full((8, 12), 0.05)})
    assert n.sum() > before  # views follow
    x, y = net.batch(0)
    assert not np.array_equal(net.settle(x, step=0).state, net.settle(x, step=1).state)  # other noise
    assert np.array_equal(net.settle(x, step=1).state, net.settle(x, step=1).state)
    one, two = net.settle(x).state, net.settle(x).state
    assert not np.array_equal(one, two)  # every call draws its own
    again = nudge.Network(block, device__model="soft_bounds", device__pulses=500, device__read_noise=0.01)
    again.update({"Wm": np.full((8, 12), 0.05)})
    assert np.array_equal(again.settle(x).state, one) and np.array_equal(again.settle(x).state, two)  # the same ones anew


def test_a_network_that_does_not_settle_is_refused():
    with pytest.raises(nudge.InputError, match="network.kind = sequence_model does not settle"):
        nudge.Network({"network": {"kind": "sequence_model"}})
