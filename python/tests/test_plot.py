# SPDX-License-Identifier: Apache-2.0
"""nudge.plot: what is drawn is what the files say; nudge.effects: the ranking's numbers."""

import builtins
import importlib
import math
import sys

import numpy as np
import pytest

import nudge
from nudge._core import sign_test
from nudge.ranked import cell


@pytest.fixture
def plot():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: nothing of nudge.plot is tested")
    matplotlib.use("Agg")
    import nudge.plot

    yield nudge.plot
    nudge.plot.plt.close("all")


@pytest.fixture
def swept(block):
    return nudge.sweep(block, device__model="soft_bounds", train__steps=3, sweep={
        "seeds": [1, 2, 3], "mode": "one_at_a_time",
        "grid": {"device.read_noise": [0, "2 %"], "crossbar.update": ["pulses", "write_verify"]}})


def test_effects(swept):
    found = {one.key: one for one in nudge.effects(swept)}
    assert set(found) == {"device.read_noise", "crossbar.update"}
    points = swept.points
    loss = points.validation_loss.values
    noisy = points["device.read_noise"].values > 0
    base = ~noisy & (points["crossbar.update"].values == "pulses")
    differences = loss[noisy] - loss[base]  # both in the order of the seeds
    effect = found["device.read_noise"]
    assert effect.seeds == 3 and effect.mean == pytest.approx(differences.mean(), rel=1e-12)
    quantile = 0.975 * np.sqrt(2 / (1 - 0.975**2))  # of Student's t, two degrees, at 1 - 0.05/4: two effects together
    half = quantile * differences.std(ddof=1) / np.sqrt(3)
    assert effect.high - effect.mean == pytest.approx(half, rel=1e-5)
    with pytest.raises(nudge.InputError, match="no result 'los'"):
        nudge.effects(swept, "los")


def test_training(plot, block):
    run = nudge.train(block, train__cosine_every=2, train__beside="bptt")
    lines = plot.losses(run, smooth=3).lines
    assert np.array_equal(lines[0].get_ydata(), run.train.loss) and np.array_equal(lines[0].get_xdata(), run.train.step)
    loss = run.train.loss.values  # the mean of three: both neighbours, of one at the ends
    assert np.allclose(lines[1].get_ydata()[1:-1], (loss[:-2] + loss[1:-1] + loss[2:]) / 3, rtol=1e-14)
    assert lines[1].get_ydata()[0] == pytest.approx(loss[:2].mean(), rel=1e-14)
    assert np.array_equal(lines[2].get_xdata(), run.train.validation_step)
    shown = [text.get_text() for text in lines[0].axes.get_legend().get_texts()]
    assert "bptt (alongside)" in shown and lines[0].axes.get_xlabel() == "training step (lines: mean of 3, dots: validation)"
    assert any(np.array_equal(line.get_ydata(), run["beside/train"].loss) for line in lines)
    ax = plot.agreement(run)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"all", *run.train.cosine_groups.values}
    own, = plot.series(run, "residual")
    assert np.array_equal(own.lines[0].get_ydata(), run.train.residual)
    assert plot.series(run, "residual", ax=own)[0] is own
    with pytest.raises(nudge.InputError, match="2 axes for columns of 1 units"):
        plot.series(run, "residual", ax=[own, own])
    with pytest.raises(nudge.InputError, match="no column residuals"):
        plot.series(run, "residuals")
    with pytest.raises(nudge.InputError, match="scored by the loss alone"):
        plot.accuracy(run)
    assert len(plot.series(run)) == len({one.attrs["unit"] for one in plot.columns(run).values() if len(set(one.values)) > 1})


def test_accuracy(plot):
    settings = {"network__kind": "hopfield", "hopfield__hidden": [8], "train__steps": 4, "train__batch": 8, "train__evaluate_every": 2,
                "relaxation__free_steps": 20, "relaxation__nudged_steps": 20, "estimator": "ep", "threads": 1}
    run = nudge.train(None, task__kind="classification", **settings)
    ax = plot.accuracy(run)
    assert np.array_equal(ax.lines[0].get_ydata(), run.train.validation_accuracy)
    table = run["reference"]
    linear = table.score.values[(table.model.values == "linear") & (table.split.values == "validation")]
    assert ax.lines[1].get_ydata()[0] == linear[0] and "accuracy" in plot.figures(run)
    assert "%" in ax.yaxis.get_major_formatter()(0.5)
    fitted = nudge.train(None, task__kind="regression", task__references="off", **settings)
    assert plot.accuracy(fitted).get_ylabel() == "validation error (rms)"


def test_gradcheck(plot, block, tmp_path):
    check = nudge.gradcheck(block, out=tmp_path / "check.h5", precision="double", gradcheck__estimators=["ep", "aep_anchored"])
    from_file, from_object = (plot.agreement(one).images[0].get_array() for one in (nudge.open(tmp_path / "check.h5"), check))
    assert np.array_equal(from_file, from_object)
    row = list(check.table.estimator.values).index("ep")
    column = list(check.table.group.values).index("Wq")
    assert from_file[row, column] == pytest.approx(np.log10(1 - check.cosine("ep", "Wq")), rel=1e-9)


def test_sweeps(plot, swept, block):
    ax = plot.ranking(swept)
    names = [text.get_text() for text in ax.get_yticklabels()]
    ranked = nudge.effects(swept)
    assert names[-1].startswith(ranked[0].key) and ax.get_xlabel() == "difference of the validation loss (nat)"
    assert all(one.comparisons == len(ranked) for one in ranked)
    shares = plot.ranking(swept, "validation_accuracy") if "validation_accuracy" in swept.points else None
    assert shares is None or shares.get_xlabel() == "difference of the validation accuracy (points)"
    assert plot.points(swept, "crossbar.update").get_xticklabels()[1].get_text() == "write_verify"
    grid = nudge.sweep(
        block, device__model="soft_bounds", train__steps=2,
        sweep={"seeds": [1, 2], "grid": {"device.read_noise": [0, 0.02], "device.programming_error": [0, 0.05, 0.1]}})
    shown = plot.heat_map(grid).images[0].get_array()
    assert shown.shape == (3, 2)
    points = grid.points
    one = (points["device.read_noise"].values == 0.02) & (points["device.programming_error"].values == 0.1)
    assert shown[2, 1] == pytest.approx(points.validation_loss.values[one].mean(), rel=1e-12)


def drawn(ax):
    """The dots of a picture of points, as (x, y)."""
    return list(zip(*(values.tolist() for values in ax.lines[0].get_data())))


def test_points_of_every_kind_of_sweep(plot, block):
    """Dots are the runs in which the other keys stay, in one_at_a_time at the config's; of samples, whose keys all differ, every run."""
    plan = {"seeds": [1, 2], "mode": "one_at_a_time", "grid": {"crossbar.update": ["pulses", "write_verify"], "device.read_noise": ["1 %", "2 %"]}}
    at = nudge.sweep(block, device__model="soft_bounds", train__steps=2, sweep=plan)
    whole = at.points
    noise, loss = whole["device.read_noise"].values, whole.validation_loss.values
    base = whole["crossbar.update"].values == "pulses"
    ax = plot.points(at, "device.read_noise")
    assert drawn(ax) == list(zip(noise[base], loss[base])) and sorted(ax.lines[1].get_xdata()) == [0, 0.01, 0.02]
    assert ax.lines[1].get_ydata()[1] == pytest.approx(loss[base & (noise == 0.01)].mean(), rel=1e-12)
    assert len(drawn(plot.points(at, "crossbar.update"))) == 4
    for mode in ("random", "sobol"):
        run = nudge.sweep(block, device__model="soft_bounds", train__steps=2, sweep={
            "seeds": [1], "mode": mode, "samples": 4, "grid": {"device.read_noise": [0, "2 %"], "device.programming_error": [0, "5 %"]}})
        ax = plot.points(run, "device.read_noise")
        assert sorted(drawn(ax)) == sorted(zip(run.points["device.read_noise"].values, run.points.validation_loss.values)) and len(ax.lines) == 1
    with pytest.raises(nudge.InputError, match="no 'device.reed_noise' in the sweep"):
        plot.points(at, "device.reed_noise")


def test_runs_that_failed(plot, block):
    # A learning rate of 1e6 throws the weights away at the first step: no step after it is finite, or it does not settle.
    run = nudge.sweep(block, sweep={"seeds": [1, 2, 3], "grid": {"train.learning_rate": [1e-3, 1e6], "train.steps": [3, 4]}})
    failed = run.points.status.values != "ok"
    if not failed.any():
        pytest.fail("no run of this sweep fails any more: the test needs another one")
    ax = plot.points(run, "train.learning_rate")
    crosses = ax.lines[1]
    assert set(crosses.get_xdata()) <= set(run.points["train.learning_rate"].values[failed])
    assert "did not end well" in crosses.get_label()
    found = nudge.effects(run)
    broken = [one for one in found if one.value == 1e6]
    assert all(one.failed and math.isnan(one.mean) and one.lost >= one.failed for one in broken)  # none is left out for having failed
    assert broken == found[:len(broken)]
    heat = plot.heat_map(run)
    assert any("failed" in text.get_text() for text in heat.texts)


def test_a_cell_with_failures_has_no_mean():
    assert cell([1.0, 2.0, 6.0], "test_loss") == (3.0, 0)
    assert cell([1.0, 2.0, math.inf], "test_loss") == (2.0, 1)  # the failed is the worst of three
    assert cell([0.9, 0.8, -math.inf], "test_accuracy") == (0.8, 1)
    value, failed = cell([1.0, math.inf, math.inf, 2.0], "test_loss")
    assert math.isnan(value) and failed == 2  # the middle of four lies between a run and a failed one
    assert cell([1.0, math.nan], "cosine") == (1.0, 0)
    assert sign_test(5, 0) == pytest.approx(2 / 32) and sign_test(1, 2) == 1 and sign_test(0, 0) == 1


def test_devices_and_arrays(plot, tmp_path):
    run = nudge.devices.characterize("ecram", devices=6, samples=64, cycles=2)
    ax = plot.staircase(run)
    assert any(np.array_equal(line.get_ydata(), run.staircase.conductance_mean) for line in ax.lines)
    assert "S" in ax.yaxis.get_major_formatter()(2e-5) and "µ" in ax.yaxis.get_major_formatter()(2e-5)
    assert plot.drift(run).get_xscale() == "log"
    array = nudge.Crossbar(np.eye(4), device="ecram")
    assert np.array_equal(plot.array(array).images[0].get_array(), array.conductances[0])
    names = plot.save(run, tmp_path / "device.pdf")
    assert names == ["staircase", "drift", "read_noise"]
    assert (tmp_path / "device.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(nudge.InputError, match="of a training run"):
        plot.losses(run)


def test_without_matplotlib(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **named):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.delitem(sys.modules, "nudge.plot", raising=False)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        importlib.import_module("nudge.plot")
