# SPDX-License-Identifier: Apache-2.0
"""Devices of one's own: as the built-in ones where those say the same, as their functions applied pulse by pulse, and refused in words."""

import numpy as np
import pytest

import nudge
from nudge.devices import Device

LOW, HIGH, PULSES = 1e-6, 21e-6, 200
WEIGHTS = np.random.default_rng(1).uniform(-1, 1, (12, 9))
WINDOW = {"device__g_min": LOW, "device__g_max": HIGH, "device__pulses": PULSES}


class SoftBounds(Device):
    """The built-in model of that name again: a pulse falls from twice its mean to nothing along its way."""

    g_min, g_max, pulses = LOW, HIGH, PULSES

    def up(self, g):
        return (HIGH - LOW) / PULSES * (HIGH - g) / (0.5 * (HIGH - LOW))

    def down(self, g):
        return (HIGH - LOW) / PULSES * (g - LOW) / (0.5 * (HIGH - LOW))


class Bent(Device):
    """Steps that no straight line follows, other ones up than down."""

    g_min, g_max = LOW, HIGH

    def up(self, g):
        return 2e-7 * np.exp(-2 * (g - LOW) / (HIGH - LOW)) + 2e-8

    def down(self, g):
        return 1.5e-7 * (0.2 + ((g - LOW) / (HIGH - LOW)) ** 2)


def test_a_built_in_model_written_again_has_its_trajectories():
    own = nudge.Crossbar(WEIGHTS, device=SoftBounds)
    built_in = nudge.Crossbar(WEIGHTS, device="soft_bounds", **WINDOW)
    rng = np.random.default_rng(2)
    for _ in range(30):
        delta = rng.normal(0, 0.1, WEIGHTS.shape)
        own.update(delta)
        built_in.update(delta)
    # Linear steps have the flow exactly; table and closed form differ by rounding, some 1e-16 of the window per update.
    for mine, theirs in zip(own.conductances, built_in.conductances):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12 * (HIGH - LOW))
    np.testing.assert_array_equal(own.pulses[0], built_in.pulses[0])
    assert SoftBounds().tabulation_error < 1e-9


def test_many_pulses_are_the_function_applied_as_often():
    device = Bent()
    assert device.tabulation_error < 1e-3
    array = nudge.Crossbar(WEIGHTS, device=device, crossbar__mapping="offset")
    g = array.conductances[0].copy()
    window, per_weight = HIGH - LOW, array.facts["siemens_per_weight"]
    pulse = 0.5 * (device.up(np.array(0.5 * (LOW + HIGH))) + device.down(np.array(0.5 * (LOW + HIGH))))
    for n, sign in ((1, 1), (40, 1), (25, -1)):
        array.update(np.full(WEIGHTS.shape, sign * n * pulse / per_weight))
        for _ in range(n):
            g = np.clip(g + (device.up(g) if sign > 0 else -device.down(g)), LOW, HIGH)
        # Every pulse of the table may miss by the error that the device states (in mean pulses), and rounding.
        np.testing.assert_allclose(array.conductances[0], g, rtol=0, atol=66 * device.tabulation_error * pulse + 1e-12 * window)


def test_train_gradcheck_and_sweep_by_name(block, tmp_path):
    own = {"devices": {"mine": SoftBounds}, "device__model": "mine", "precision": "double"}
    built_in = {"device__model": "soft_bounds", "precision": "double", **WINDOW}
    first, second = nudge.train(block, **own), nudge.train(block, **built_in)
    assert first.summary["status"] == "ok"
    # The same circuit but for rounding, through six steps of EP: differences of 1e-12 over beta = 1e-5.
    np.testing.assert_allclose(first.train.loss.values, second.train.loss.values, rtol=1e-5)
    assert not np.allclose(first.train.loss.values, nudge.train(block, precision="double").train.loss.values, rtol=1e-5)

    rows = nudge.gradcheck(block, gradcheck__estimators=["aep_transposed"], **own).rows
    again = nudge.gradcheck(block, gradcheck__estimators=["aep_transposed"], **built_in).rows
    for mine, theirs in zip(rows, again):
        assert mine["cosine"] == pytest.approx(theirs["cosine"], abs=1e-6)

    table = nudge.sweep(block, sweep={"seeds": [1, 2], "grid": {"device.read_noise": [0, "1 %"]}}, **own)
    assert table.summary["ok"] == 4

    path = tmp_path / "run.toml"
    path.write_text("seed = 3\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n[train]\nsteps = 2\nbatch = 3\n"
                    "evaluation_batches = 1\ntest_batches = 1\n[device]\nmodel = 'mine'\nread_noise = '1 %'\n")
    run = nudge.train(path, out=tmp_path / "run.h5", devices={"mine": SoftBounds()})
    assert run.config["device"]["model"] == "piecewise" and run.config["device"]["read_noise"] == 0.01
    assert nudge.Network(path, devices={"mine": SoftBounds}).devices("Wo")["conductance"].max() <= HIGH * (1 + 1e-6)


def test_the_same_bits_for_any_number_of_threads(block):
    runs = [nudge.train(block, devices={"mine": Bent}, device__model="mine", device__update_noise=0.3, device__update="pulsed",
                        threads=threads) for threads in (1, 2)]
    np.testing.assert_array_equal(runs[0].train.loss.values, runs[1].train.loss.values)
    assert runs[0].train.loss.values.size == 6


def test_settings_reach_the_device():
    class Noisy(Bent):
        settings = {"read_noise": 0.05}

    array = nudge.Crossbar(WEIGHTS, device=Noisy)
    x = np.ones((1, 12))
    assert not np.array_equal(array.forward(x), array.forward(x))
    found = nudge.devices.characterize(Noisy, devices=20, samples=64, cycles=1)
    assert np.isfinite(found.staircase.conductance_mean.values).all()


def made(**parts):
    return type("Mine", (Bent,), parts)


@pytest.mark.parametrize("parts, message", [
    ({"up": lambda self, g: g[:-1]}, "returned the shape"),
    ({"up": lambda self, g: np.where(g > 1.5e-5, np.nan, 1e-7)}, r"up\(1.5.*e-05 S\) = nan"),
    ({"down": lambda self, g: -1e-8 * np.ones_like(g)}, "must be >= 0"),
    ({"down": lambda self, g: 1 / 0}, r"down\(g\) raised ZeroDivisionError"),
    ({"up": lambda self, g: "much"}, "must be an array of numbers"),
    ({"up": lambda self, g: 0.2 * np.ones_like(g)}, "more than the window"),
    ({"up": lambda self, g: 0 * g}, "is 0 in the whole window"),
    ({"up": lambda self, g: 1e-7 * np.random.default_rng().uniform(size=g.shape)}, "conductance alone"),
    ({"up": lambda self, g: 1.9 * (HIGH - g)}, "more than the window|falls by more|misses one pulse"),
    ({"g_min": "1 uS"}, "must be a number of siemens"),
    ({"g_max": 1e-9}, "g_min < g_max"),
    ({"points": 2}, "points = 2"),
    ({"points": 3}, "take more points"),
    ({"settings": {"g_min": 1e-6}}, "is made from the class"),
    ({"settings": 3}, "must be a dict"),
])
def test_what_is_wrong_is_said(parts, message):
    with pytest.raises(nudge.InputError, match=message) as raised:
        nudge.Crossbar(WEIGHTS, device=made(**parts))
    assert "device Mine" in str(raised.value)


def test_names_and_axes_that_cannot_be(block):
    with pytest.raises(nudge.InputError, match="settings|read_nois"):
        nudge.Crossbar(WEIGHTS, device=made(settings={"read_nois": 0.1}))
    with pytest.raises(nudge.InputError, match="is a model or a preset"):
        nudge.train(block, devices={"ecram": Bent}, device__model="ecram")
    with pytest.raises(nudge.InputError, match="must be a nudge.devices.Device"):
        nudge.train(block, devices={"mine": 3}, device__model="mine")
    with pytest.raises(nudge.InputError, match="cannot be a value of an axis"):
        nudge.sweep(block, sweep={"grid": {"device.model": ["soft_bounds", "mine"]}}, devices={"mine": Bent})
    with pytest.raises(nudge.InputError, match="device.model"):
        nudge.train(block, devices={"mine": Bent}, device__model="mime")
    with pytest.raises(nudge.InputError, match="not defined"):
        nudge.Crossbar(WEIGHTS, device=Device.__class__("Half", (Device,), {"g_min": LOW, "g_max": HIGH}))
