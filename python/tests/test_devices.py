# SPDX-License-Identifier: Apache-2.0
"""Crossbar and devices."""

import pathlib
import re

import numpy as np
import pytest

import nudge


@pytest.fixture
def w():
    return np.random.default_rng(1).uniform(-1, 1, (5, 4))


def test_reads_both_ways(w):
    array = nudge.Crossbar(w, device="soft_bounds", precision="double", hardware__level="ideal")
    x, y = np.random.default_rng(2).normal(size=(3, 5)), np.ones(4)
    # Conductances of some 1e-5 S are made of weights of some 1 and back, in double: rounding of some 1e-15.
    assert np.allclose(array.weights, w, atol=1e-12)
    assert np.allclose(array.forward(x), x @ array.weights, atol=1e-12)
    assert np.allclose(array.transposed(y), array.weights @ y, atol=1e-12)
    with pytest.raises(nudge.InputError, match="must be 5"):
        array.forward(np.ones((3, 4)))


def test_amplifiers_are_real_by_default(w):
    x = np.random.default_rng(2).normal(size=(3, 5))
    array, ideal = (nudge.Crossbar(w, device="soft_bounds", **level) for level in ({}, {"hardware__level": "ideal"}))
    off = abs(array.forward(x, noisy=False) - ideal.forward(x)).max()
    # Gains that differ by 1 % and offsets of 0.1 mV, of sums of some 1: above the rounding of floats, below a tenth.
    assert 1e-4 < off < 0.1


def test_noise_is_fresh_and_has_its_size(w):
    array = nudge.Crossbar(w, device={"model": "soft_bounds", "read_noise": 0.01})
    x = np.ones((2000, 5))
    noise = array.forward(x) - array.forward(x, noisy=False)
    assert not np.array_equal(array.forward(x), array.forward(x))
    facts = array.facts
    window = 25e-6 - 0.25e-6
    # Five rows of pairs: 10 devices of 1 % of the window each, over siemens_per_weight. 8000 numbers: 0.8 % at one sigma.
    expected = 0.01 * window * np.sqrt(10) / facts["siemens_per_weight"]
    assert noise.std() == pytest.approx(expected, rel=0.04)
    longer = array.forward(x, interval=4.0) - array.forward(x, noisy=False)
    assert longer.std() == pytest.approx(expected / 2, rel=0.04)


def test_pulses_move_conductances(w):
    array = nudge.Crossbar(w, device={"model": "soft_bounds", "pulses": 200})
    g, reference = array.conductances
    pulses, _ = array.pulses
    before, sent = g.copy(), pulses.sum()
    array.update(np.full((5, 4), 0.1))
    assert (g >= before).all() and (g > before).any() and pulses.sum() > sent
    assert reference.shape == g.shape
    array.program(np.zeros((5, 4)))
    assert np.allclose(array.weights, 0, atol=1e-9)


def test_presets_and_models():
    known = nudge.devices.list()
    assert {"soft_bounds", "linear_step"} <= {model["name"] for model in known["models"]}
    preset = known["presets"][0]["name"]
    shown = nudge.devices.show(preset)
    assert shown["kind"] == "preset" and any(p["name"] == "g_max" for p in shown["parameters"])
    assert nudge.Crossbar(np.eye(2), device=preset).weights.shape == (2, 2)
    with pytest.raises(nudge.InputError, match="did you mean|known"):
        nudge.Crossbar(np.eye(2), device="soft_bound")


def test_characterize():
    run = nudge.devices.characterize("soft_bounds", devices=20, samples=64, cycles=2, device__pulses=100)
    assert set(run.groups) >= {"staircase", "endurance", "drift"}
    stairs = run.staircase.conductance_mean
    assert stairs.attrs["units"] == "S" and stairs.values.max() > 5 * stairs.values[0]
    assert run.summary


def test_fit(tmp_path):
    """Pulses of a soft-bounds device, 2 % of what is left to the bound each; the record ends within e⁻⁸ of both bounds."""
    rows, g = ["pulse,conductance,direction"], 0.2e-6
    for i in range(801):
        up = i <= 400
        if i > 0:
            g += 0.02 * (25e-6 - g) if up else -0.02 * (g - 0.2e-6)
        rows.append(f"{i},{g},{'up' if up else 'down'}")
    (tmp_path / "p.csv").write_text("\n".join(rows) + "\n")
    found = nudge.devices.fit(tmp_path / "p.csv", model="soft_bounds")
    pulses = float(re.search(r"^pulses = (.*)$", found["toml"], flags=re.M)[1])
    assert pulses == pytest.approx(100, rel=0.01)  # a pulse at the middle moves by 1 % of the window
    assert found["step_residual_pulses"] < 1e-3 and found["model"] == "soft_bounds"
    with pytest.raises(nudge.InputError, match="soft_bounds"):
        nudge.devices.fit(tmp_path / "p.csv", model="soft_bound")


def test_a_fit_of_several_devices():
    csv = pathlib.Path(__file__).resolve().parents[2] / "examples" / "lab_pulses.csv"
    found = nudge.devices.fit(csv, model="soft_bounds")
    assert (found["devices"], found["records"]) == (5, 10)
    population = found["population"]
    for one in population.values():
        low, high = one["mean_interval"]
        assert low < one["mean"] < high and one["deviation_interval"][0] < one["deviation"] < one["deviation_interval"][1]
    device = found["config"]["device"]
    # Drawn in ln g: the median of the devices lies below their mean by half the variance of the logarithm, .037²/2.
    assert device["model"] == "soft_bounds" and device["g_max"] == pytest.approx(population["g_max"]["mean"], rel=1e-3)
    assert device["programming_error"] == pytest.approx(found["repeatability"], rel=1e-6)
    array = nudge.Crossbar(np.zeros((40, 40)), device=device)
    # Bounds of 1600 devices: their deviation is known to 1/√(2·1600) = 1.8 %; four of these. A bound is cut at the other
    # bound, ten deviations away.
    spread = np.std(array.facts["upper"])
    assert spread == pytest.approx(population["g_max"]["deviation"], rel=0.08)


def test_quantities_as_overrides(w):
    array = nudge.Crossbar(w, device={"model": "soft_bounds", "g_min": "2 uS", "g_max": "30 uS"}, crossbar__row_resistance="3 Ohm")
    assert array.facts["upper"].max() == pytest.approx(30e-6)
    found = nudge.resolve({"device": {"model": "soft_bounds"}}, device__g_max="30 uS", device__read_noise="2 %")
    assert found["device"]["read_noise"] == 0.02


def test_currents_between_wires(w):
    volts = np.linspace(0.1, 0.2, 5)
    plain = nudge.Crossbar(w, device="ecram")
    assert np.allclose(plain.currents(volts), volts @ plain.conductances[0], rtol=1e-12)
    wired = nudge.Crossbar(w, device="ecram", crossbar__row_resistance="100 Ohm", crossbar__column_resistance="100 Ohm")
    lost = 1 - wired.currents(volts) / (volts @ wired.conductances[0])
    # A cell at (i, j) is behind (j + 1) + (5 − i) pieces of wire of 100 Ω, shared with at most 20 cells of at most 25 µS.
    assert (0 < lost).all() and (lost < 9 * 100 * 20 * 25e-6).all()
    netlist = wired.netlist(volts)
    assert netlist.count("\nr") >= 20 and "vs3" in netlist
    with pytest.raises(nudge.InputError, match="columns"):
        wired.currents(volts[:3])


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_an_update_that_is_no_number_is_refused(wrong):
    array = nudge.Crossbar(np.zeros((3, 2)), device="soft_bounds")
    with pytest.raises(nudge.InputError, match="delta: must be finite"):
        array.update(np.full((3, 2), wrong))


@pytest.mark.parametrize("wrong", ["x", None, 0, -1.0, float("nan"), float("inf")])
def test_a_nudge_of_an_estimator_is_a_number_above_0(wrong):
    class Own(nudge.Estimator):
        beta = wrong

        def estimate(self, example):
            return np.zeros_like(example.state)

    with pytest.raises(nudge.InputError, match="beta = .* of an estimator"):
        nudge.train(None, network__kind="hopfield", task__kind="classification", train__steps=1, estimator=Own())
