# SPDX-License-Identifier: Apache-2.0
"""Devices with states of their own: the built-in short_long_term written again in Python, through everything that a device goes through."""

import numpy as np
import pytest

import nudge
from nudge.devices import Device

LOW, HIGH, PULSES, SHARE, TIME, NOISE = 1e-6, 21e-6, 200, 0.4, 0.5, 0.3
WEIGHTS = np.random.default_rng(1).uniform(-1, 1, (12, 9))
BUILT_IN = {"device__model": "short_long_term", "device__g_min": LOW, "device__g_max": HIGH, "device__pulses": PULSES,
            "device__short_long_term__short_share": SHARE, "device__short_long_term__short_time": TIME}


class Fading(Device):
    """Soft bounds of which a share fades."""

    g_min, g_max, pulses = LOW, HIGH, PULSES
    states = {"short_term": "S"}
    least_wait = 1e-4 * TIME

    def pulse(self, g, n, state):
        bound = np.where(n > 0, HIGH, LOW)
        after = bound + (g - bound) * (1 - 2 / PULSES) ** np.abs(n)
        state["short_term"] = state["short_term"] + SHARE * (after - g)
        return after

    def wait(self, g, seconds, kelvin, state):
        lost = -np.expm1(-seconds / TIME) * state["short_term"]
        state["short_term"] = state["short_term"] - lost
        return g - lost


class Noisy(Fading):
    """The same, with noise of what fades."""

    def read_noise(self, g, state):
        return NOISE * np.abs(state["short_term"])


def keys_of(device, **noise):
    """What makes devices of a config these, or the built-in ones."""
    timed = {"precision": "double", "train__step_time": "0.1 s"}
    return {**timed, "devices": {"fading": device}, "device__model": "fading"} if device else {**timed, **BUILT_IN, **noise}


def test_it_is_the_built_in_one():
    own = nudge.Crossbar(WEIGHTS, device=Fading)
    built_in = nudge.Crossbar(WEIGHTS, device="short_long_term", **{key: value for key, value in BUILT_IN.items() if key != "device__model"})
    rng = np.random.default_rng(2)
    for _ in range(20):
        delta = rng.normal(0, 0.1, WEIGHTS.shape)
        for array in (own, built_in):
            array.update(delta)
            array.advance_time(0.2)
    # Both are exact: powers and exponentials of two libraries differ by some 1e-16 of the window in each of 40 calls.
    for mine, theirs in zip(own.conductances, built_in.conductances):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-13 * (HIGH - LOW))


def test_its_noise_is_that_of_the_built_in_one():
    own = nudge.Crossbar(WEIGHTS, device=Noisy, hardware__level="ideal")
    built_in = nudge.Crossbar(WEIGHTS, device="short_long_term", hardware__level="ideal", device__short_long_term__short_noise=NOISE,
                              **{key: value for key, value in BUILT_IN.items() if key != "device__model"})
    x = np.random.default_rng(3).normal(size=(5, 12))
    for array in (own, built_in):
        array.update(np.full(WEIGHTS.shape, 0.3))
    mine, theirs = own.forward(x), built_in.forward(x)
    assert np.abs(mine - own.forward(x, noisy=False)).max() > 1e-3
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-10)  # the same numbers times the same deviations


class Disturbed(Device):
    """Soft bounds that reads take to the upper one, as device.read_disturb_time does."""

    g_min, g_max, pulses = LOW, HIGH, PULSES
    states = {"reads": "s"}
    least_wait = 1e-4 * TIME

    def pulse(self, g, n, state):
        bound = np.where(n > 0, HIGH, LOW)
        return bound + (g - bound) * (1 - 2 / PULSES) ** np.abs(n)

    def disturb(self, g, seconds, state):
        state["reads"] = state["reads"] + seconds
        return HIGH + (g - HIGH) * np.exp(-seconds / TIME)


def test_reads_disturb_it_as_the_built_in_one(block, tmp_path):
    built_in = {"device__model": "soft_bounds", "device__g_min": LOW, "device__g_max": HIGH, "device__pulses": PULSES,
                "device__read_disturb_time": TIME}
    arrays = (nudge.Crossbar(WEIGHTS, device=Disturbed),
              nudge.Crossbar(WEIGHTS, device="soft_bounds", **{key: value for key, value in built_in.items() if key != "device__model"}))
    for array in arrays:
        array.update(np.full(WEIGHTS.shape, 0.1))
        before = array.conductances[0].copy()
        array.advance_time(3.0)
        np.testing.assert_array_equal(array.conductances[0], before)  # waiting alone does nothing
        array.advance_time(3.0, reading=0.2)
        np.testing.assert_allclose(array.conductances[0], HIGH + (before - HIGH) * np.exp(-0.2 / TIME), rtol=1e-12)
    for mine, theirs in zip(arrays[0].conductances, arrays[1].conductances):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-13 * (HIGH - LOW))

    # A step's phases last some microseconds: a circuit of seconds is disturbed within six steps.
    timed = {"precision": "double", "circuit__time_constant": "1 ms"}
    theirs = nudge.train(block, **timed, **built_in)
    own = {**timed, "devices": {"disturbed": Disturbed}, "device__model": "disturbed"}
    mine = nudge.train(block, out=tmp_path / "run.h5", **own)
    np.testing.assert_allclose(mine.train.loss.values, theirs.train.loss.values, rtol=1e-5)  # as below
    still = nudge.train(block, **timed, **{**built_in, "device__read_disturb_time": 0})
    assert np.abs(still.train.loss.values / theirs.train.loss.values - 1).max() > 1e-3
    nudge.train(block, out=tmp_path / "half.h5", progress=lambda event: event.get("done", 0) < 3, train__checkpoint_every=1, **own)
    resumed = nudge.resume(tmp_path / "half.h5", device=Disturbed)
    np.testing.assert_array_equal(resumed.train.loss.values, mine.train.loss.values)


@pytest.mark.parametrize("device", [Fading, Noisy])
def test_it_trains_as_the_built_in_one_and_resumes(device, block, tmp_path):
    noise = {"device__short_long_term__short_noise": NOISE} if device is Noisy else {}
    theirs = nudge.train(block, **keys_of(None, **noise))
    mine = nudge.train(block, out=tmp_path / "run.h5", **keys_of(device))
    # The same circuit but for rounding, through six steps of EP: differences of 1e-12 over beta = 1e-5.
    np.testing.assert_allclose(mine.train.loss.values, theirs.train.loss.values, rtol=1e-5)

    half = tmp_path / "half.h5"
    nudge.train(block, out=half, progress=lambda event: event.get("done", 0) < 3, train__checkpoint_every=1, **keys_of(device))
    assert nudge.open(half).train.loss.size < 6
    resumed = nudge.resume(half, device=device)
    np.testing.assert_array_equal(resumed.train.loss.values, mine.train.loss.values)


@pytest.mark.parametrize("writing", [
    {"crossbar__update": "write_verify"},
    {"crossbar__update": "coincidence", "train__optimizer": "sgd", "train__momentum": 0, "train__gradient_clip": 0},
    {"device__update": "pulsed", "device__endurance": 40, "device__endurance_failure": "stuck", "device__stuck_low": 0.05},
])
def test_however_it_is_written_it_is_the_built_in_one(writing, block):
    runs = [nudge.train(block, **keys_of(device), **writing, threads=threads) for device, threads in ((None, 1), (Fading, 1), (Fading, 2))]
    theirs, mine, again = (run.train.loss.values for run in runs)
    np.testing.assert_allclose(mine, theirs, rtol=1e-5)  # as above
    np.testing.assert_array_equal(mine, again)


def test_a_run_is_resumed_with_its_own_device_alone(block, tmp_path):
    nudge.train(block, out=tmp_path / "run.h5", **keys_of(Fading))
    with pytest.raises(nudge.InputError, match="device = Noisy: the run has Fading"):
        nudge.resume(tmp_path / "run.h5", device=Noisy)
    with pytest.raises(nudge.InputError, match="the device is code of the program that ran it"):
        nudge.resume(tmp_path / "run.h5")


def test_gradcheck_and_sweep_take_it(block):
    asked = {"gradcheck__estimators": ["aep_transposed"]}
    check, theirs = nudge.gradcheck(block, **asked, **keys_of(Fading)), nudge.gradcheck(block, **asked, **keys_of(None))
    assert check.cosine("aep_transposed") == pytest.approx(theirs.cosine("aep_transposed"), abs=1e-6)
    table = nudge.sweep(block, sweep={"seeds": [1], "grid": {"device.read_noise": [0, "2 %"]}}, **keys_of(Fading))
    assert table.summary["ok"] == 2


def test_it_is_measured_as_on_a_prober():
    run = nudge.devices.characterize(Fading, devices=4, samples=64, cycles=1, points=20)
    assert run.staircase.conductance_mean.values.max() > LOW + 0.5 * (HIGH - LOW)


@pytest.mark.parametrize("change, message", [
    ({"pulses": None}, "pulses is not given"),
    ({"states": {"a b": "S"}}, "its name a word"),
    ({"pulse": lambda self, g, n, state: g[:3]}, r"pulse\(g, n, state\) has the shape \(3,\)"),
    ({"pulse": lambda self, g, n, state: g * np.nan}, "must be finite"),
    ({"pulse": lambda self, g, n, state: 1 / 0}, "raised ZeroDivisionError"),
    ({"pulse": lambda self, g, n, state: (state.clear(), g)[1]}, "the state short_term"),
])
def test_what_it_answers_wrongly_is_said(change, message):
    device = type("Wrong", (Fading,), change)
    with pytest.raises(nudge.InputError, match="device Wrong: .*" + message):
        nudge.Crossbar(WEIGHTS, device=device).update(np.full(WEIGHTS.shape, 0.1))
