# SPDX-License-Identifier: Apache-2.0
"""The report's figures with matplotlib, for slides and papers.

Every function takes a ``Run`` (of ``nudge.open``, ``train``, ``gradcheck``, ``sweep`` or ``devices.characterize``) and draws on ``ax``, or on axes of its own. It returns the axes; ``series`` returns an
array of them, one per unit. Axes and units are those that the file stores.

>>> nudge.plot.losses(nudge.open("run.h5")).figure.savefig("loss.pdf")
"""

import io
import math
import os

import numpy as np

try:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import EngFormatter, PercentFormatter
except ImportError:
    raise ImportError("nudge.plot draws with matplotlib, which is not installed: pip install matplotlib") from None

from . import _core
from .ranked import cell, effects, results_of
from .errors import InputError

__all__ = ["accuracy", "agreement", "array", "columns", "drift", "figures", "heat_map", "losses", "points", "read_noise", "ranking", "save", "series", "staircase"]

# Okabe and Ito, "Color universal design" (2008): told apart by colour-blind eyes; without the yellow, too pale for lines.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
_PREFIXED = ("S", "s", "J", "W", "V", "A", "F", "Hz", "Ohm")  # units that are written with prefixes


def _axes(ax, size=(6.0, 3.4)):
    return ax if ax is not None else plt.subplots(figsize=size, layout="constrained")[1]


def _legend(ax, size="small"):
    """A legend above the axes, where it covers no data: two columns where there is room."""
    wide = ax.get_figure().get_figwidth() >= 5
    ax.legend(frameon=False, fontsize=size, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, ncols=2 if wide else 1)


def _name(key):
    return str(key).replace("_", " ")


def _unit(values):
    return values.attrs.get("units", values.attrs.get("unit", "1"))


def _label(axis, name, unit, plain=False):
    """Name and unit on an axis; ticks with prefixes ("20 µS") where the unit takes them. plain: the name as it is, a key."""
    if unit in _PREFIXED:
        axis.set_major_formatter(EngFormatter(unit))
    name = name if plain else _name(name)
    axis.set_label_text(name if unit == "1" or unit in _PREFIXED else f"{name} ({unit})")


def _group(run, name):
    if name not in run.groups:
        raise InputError(f"{run!r} has no group {name}: this figure is of another kind of file")
    return run[name]


_NULLS = (("null/", " (frozen devices)"),  # of an earlier version
          ("null/frozen_devices/", " (frozen devices)"), ("null/readout/", " (read-out alone)"), ("null/noise_gradient/", " (noise gradient)"))


def _trainees(run):
    """(label, prefix of groups, log) of what was trained, of what was trained beside it, and of its nulls."""
    out = []
    for prefix, lane in (("", ""), ("beside/", " (alongside)"), *_NULLS):
        if prefix + "train" in run.groups:
            log = run[prefix + "train"]
            out.append((_name(log.attrs.get("estimator", "trained")) + lane, prefix, log))
    if not out:
        raise InputError(f"{run!r} has no group train: this figure is of a training run")
    return out


def columns(run, group="train"):
    """Returns the columns of a log by name: datasets of one dimension that the file calls series (attribute ``role``)."""
    found = _group(run, group)
    return {name: value for name, value in found.data_vars.items() if value.attrs.get("role") == "series" and value.ndim == 1}


def _curve(ax, values, **style):
    """A series over the axis that its file names (its coordinate)."""
    (dimension,) = values.dims
    x = values.coords[dimension] if dimension in values.coords else np.arange(values.size)
    ax.plot(x, values, **style)
    return _name(dimension)


def series(run, *names, group="train", ax=None):
    """Draws columns of the log over their own axis, one panel per unit; companion runs are dashed. Returns an array of axes.

    - names: columns; none: every column that is not constant. An unknown name raises InputError.
    - ax: axes to draw on, as many as there are units.
    """
    log = columns(run, group)
    unknown = [name for name in names if name not in log]
    if unknown:
        raise InputError(f"no column {', '.join(unknown)} in {group} (there are: {', '.join(log)})")
    chosen = names or [name for name, value in log.items() if np.unique(value.values[np.isfinite(value.values)]).size > 1]
    units = list(dict.fromkeys(_unit(log[name]) for name in chosen))
    if ax is None:
        ax = plt.subplots(len(units), 1, figsize=(6, 2.4 * len(units)), squeeze=False, layout="constrained")[1]
    panels = np.ravel(ax)
    if len(panels) != len(units):
        raise InputError(f"series: {len(panels)} axes for columns of {len(units)} units ({', '.join(units)})")
    beside = columns(run, "beside/" + group) if "beside/" + group in run.groups else {}
    for panel, unit in zip(panels, units):
        own = [name for name in chosen if _unit(log[name]) == unit]
        for i, name in enumerate(own):
            panel.set_xlabel(_curve(panel, log[name], color=COLORS[i % len(COLORS)], label=_name(name)))
            if name in beside:
                _curve(panel, beside[name], color=COLORS[i % len(COLORS)], linestyle="--", label=_name(name) + " (beside)")
        _label(panel.yaxis, own[0] if len(own) == 1 else "", unit)
        _legend(panel)
    return panels


def _smoothed(values, width):
    """Mean of the finite ones of the `width` values around each, of fewer at the ends; NaN where there is none."""
    known = np.isfinite(values)
    half = width // 2
    sums, counts = (np.concatenate([[0.0], np.cumsum(one)]) for one in (np.where(known, values, 0.0), known))
    at = np.arange(values.size)
    low, high = np.maximum(at - half, 0), np.minimum(at + half + 1, values.size)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (sums[high] - sums[low]) / (counts[high] - counts[low])


def losses(run, ax=None, smooth=None):
    """Draws training loss (lines) and validation loss (dots) of the run, of the run alongside it and of its null runs.

    - smooth: the thick line is a mean over so many logged steps. None: a fortieth of the run; 1: no mean.
    """
    ax = _axes(ax)
    for color, (label, _, log) in zip(COLORS, _trainees(run)):
        _curve(ax, log.loss, color=color, linewidth=0.7, alpha=0.4)
        width = max(1, log.loss.size // 40) if smooth is None else int(smooth)
        mean = log.loss.copy(data=_smoothed(log.loss.values, width))
        _curve(ax, mean, color=color, linewidth=1.5, label=label)
        if "validation_loss" in log:
            _curve(ax, log.validation_loss, color=color, marker="o", markersize=4, linestyle=":")
        _label(ax.yaxis, "loss", _unit(log.loss))
    if "text" in run.groups:  # what counting letters scores
        table = run["text"]
        ax.axhline(float(table.unigram[0]), color="0.6", linestyle=":", label=f"unigram, {table.split.values[0]} part")
    lines = f"lines: mean of {2 * (width // 2) + 1}" if width > 1 else "lines: training"
    ax.set_xlabel(f"training step ({lines}, dots: validation)")
    _legend(ax)
    return ax


def accuracy(run, ax=None):
    """Draws accuracy (or root mean square error) on the validation split over the steps; dashed what a linear model of the same samples reaches.

    A run without such a score raises InputError.
    """
    lanes = [(color, label, log) for color, (label, _, log) in zip(COLORS, _trainees(run))]
    metric = next((one for one in ("accuracy", "rmse") if f"validation_{one}" in lanes[0][2]), None)
    if metric is None:
        raise InputError(f"{run!r} has no accuracy: its task is scored by the loss alone (nudge.plot.losses)")
    ax = _axes(ax)
    for color, label, log in lanes:
        if f"validation_{metric}" in log:
            _curve(ax, log[f"validation_{metric}"], color=color, marker="o", markersize=4, label=label)
    if "reference" in run.groups:
        table = run["reference"]
        linear = (table.model.values == "linear") & (table.split.values == "validation")
        if linear.any() and table.attrs.get("metric") == metric:
            ax.axhline(float(table.score.values[linear][0]), color="0.6", linestyle="--", label="linear model")
    if metric == "accuracy":
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel("training step")
    ax.set_ylabel("validation accuracy" if metric == "accuracy" else "validation error (rms)")
    _legend(ax)
    return ax


def _angles(ax, log, rounding):
    """1 − cosine of all parameters and of each group on a logarithmic scale, or the cosine where one falls under 0.9. rounding: the
    smallest 1 − cosine that the numbers of the run can tell."""
    curves = {"all": log.cosine_all.values} if "cosine_all" in log else {}
    curves.update(zip(log.cosine_groups.values, log.cosine.values.T))
    curves = {name: y for name, y in curves.items() if np.isfinite(y).any()}
    close = all(np.nanmin(y) > 0.9 for y in curves.values())
    dimension = log.cosine.dims[0]
    x = log.coords[dimension] if dimension in log.coords else np.arange(log.cosine.shape[0])
    for i, (name, y) in enumerate(curves.items()):
        style = {"color": "black", "linewidth": 2} if name == "all" else {"color": COLORS[(i - 1) % 6], "linewidth": 1,
                                                                         "linestyle": "-" if i < 7 else "--"}
        ax.plot(x, np.maximum(1 - y, rounding) if close else y, marker="o", markersize=3, label=name, **style)
    ax.set_yscale("log" if close else "linear")
    ax.set_ylabel("1 − cosine" if close else "cosine")


def _cosine(value):
    """What is left of the angle: "0.971", "1−3e-5"; what is left below 1e-12 is rounding."""
    if not math.isfinite(value):
        return "–"
    if 1 - value < 1e-12:
        return "1"
    return f"{value:.3f}" if 1 - value > 1e-3 else f"1−{1 - value:.0e}".replace("e-0", "e-")


def _table(ax, table):
    """Cosines of a gradcheck as a table, coloured by log10(1 − cosine)."""
    cosine = table.cosine.values
    angle = np.log10(np.maximum(1 - cosine, 1e-6))
    image = ax.imshow(angle, cmap="Blues", vmin=-6, vmax=0, aspect="auto")
    for (row, column), value in np.ndenumerate(cosine):
        text = _cosine(value)
        ax.text(column, row, text, ha="center", va="center", fontsize=7, color="white" if angle[row, column] > -2 else "black")
    ax.set_xticks(range(table.group.size), table.group.values)
    ax.set_yticks(range(table.estimator.size), [_name(one) for one in table.estimator.values])
    ax.figure.colorbar(image, ax=ax, label="log10(1 − cosine)")


def _rows(run):
    """The rows of a gradcheck file as a table over estimator and group."""
    from .studies import Gradcheck

    rows = run["rows"]
    names = ("estimator", "group", "cosine", "relative_l2", "sign_agreement", "force_evaluations")
    return Gradcheck({"rows": [{name: rows[name].values[i].item() for name in names} for i in range(rows.estimator.size)],
                      "diagnostics": {}}).table


def agreement(run, ax=None):
    """Draws how well gradients agree with the exact one, per parameter group.

    A gradcheck (a file, or a ``Gradcheck``) gives a table of estimators coloured by log10(1 − cosine). A training gives curves over the steps.
    """
    if hasattr(run, "table") or "rows" in run.groups:
        table = run.table if hasattr(run, "table") else _rows(run)
        ax = _axes(ax, (1.8 + 0.75 * table.group.size, 0.9 + 0.32 * table.estimator.size))
        _table(ax, table)
        return ax
    ax, log = _axes(ax), _trainees(run)[0][2]
    if "cosine" not in log:
        raise InputError(f"{run!r} was not compared with the exact gradient (train.cosine_every)")
    _angles(ax, log, 2.0 ** -53 if run.attrs.get("precision") == "double" else 2.0 ** -24)
    ax.set_xlabel("training step")
    _legend(ax, "x-small")
    return ax


def _value(value, unit="1"):
    if isinstance(value, str):
        return value
    return f"{value:g}" + ("" if unit == "1" else f" {unit}")


def ranking(run, result=None, ax=None, most=24):
    """Draws what each value of each swept key does to a result (``nudge.effects``), the largest on top.

    It shows mean differences with 95 % intervals over seeds for all effects together, accuracies in points. A filled dot has an interval that excludes 0. An effect with failed runs has no dot, and says so.
    """
    found = effects(run, result)[:most]
    table, _, results = results_of(run)
    result = result or results[0]
    if not found:
        raise InputError(f"{run!r}: no two points differ in one key alone: nothing can be ranked")
    ax = _axes(ax, (6.4, 1.0 + 0.32 * len(found)))
    share = result.endswith("accuracy")
    unit = 100 if share else 1
    ends = [0.0] + [unit * end for one in found for end in (one.mean, one.low, one.high) if math.isfinite(end)]
    margin = 0.06 * (max(ends) - min(ends))
    for row, one in enumerate(reversed(found)):
        if math.isfinite(one.low):
            ax.plot([unit * one.low, unit * one.high], [row, row], color=COLORS[0], linewidth=1.5)
        ax.plot(unit * one.mean, row, "o", color=COLORS[0], markerfacecolor=COLORS[0] if one.certain else "white")
    seeds = len(set(table.seed.values))
    ax.set_yticks(range(len(found)), [f"{one.key} = {_value(one.value, _unit(table[one.key]))}" + (f" ({one.among})" if one.among else "")
                                      + (f" ({one.seeds} of {seeds} seeds)" if one.seeds < seeds else "")
                                      + (f" (a run failed with {one.failed} of {one.seeds})" if one.failed else "")
                                      for one in reversed(found)])
    ax.axvline(0, color="0.6", linewidth=0.8)
    if margin > 0:
        ax.set_xlim(min(ends) - margin, max(ends) + margin)
    ax.set_ylim(-0.6, len(found) - 0.4)
    _label(ax.xaxis, f"difference of the {_name(result)}", "points" if share else _unit(table[result]))
    return ax


def points(run, key=None, result=None, ax=None):
    """Draws a result over one swept key: a dot per run, and a line through the means where the key is a number.

    Where runs failed the line goes through medians, with failed runs ranked worst. A cross at the foot is a run that did not end well. Other keys stay at their first value,
    which in ``one_at_a_time`` is the config's. Of random and Sobol samples every run is drawn, without a line: all keys differ.
    """
    table, keys, results = results_of(run)
    key, result = key or keys[0], result or results[0]
    for name, known in ((key, keys), (result, results)):
        if name not in known:
            raise InputError(f"no {name!r} in the sweep (it has: {', '.join(known)})")
    ax = _axes(ax)
    keep = np.ones(table.seed.size, bool)
    drawn = table.attrs.get("mode") in ("random", "sobol")
    for other in keys:
        if other != key and not drawn:
            keep &= table[other].values == table[other].values[0]
    x, y = table[key].values[keep], table[result].values[keep]
    values = list(dict.fromkeys(x))
    numeric = x.dtype.kind in "fiu"
    places = np.sort(np.asarray(values)) if numeric else np.arange(len(values))
    at = x if numeric else np.asarray([values.index(one) for one in x])
    ax.plot(at, y, "o", color=COLORS[0], markersize=4, alpha=0.6)
    failed = table.status.values[keep] != "ok"
    if failed.any():
        ax.plot(at[failed], np.full(failed.sum(), 0.04), "x", color=COLORS[1], transform=ax.get_xaxis_transform(),
                label=f"{failed.sum()} runs did not end well")
        _legend(ax)
    if numeric and not drawn:
        ax.plot(places, [cell(y[at == one], result)[0] for one in places], color=COLORS[0])
    if numeric:
        _label(ax.xaxis, key, _unit(table[key]), plain=True)
    else:
        ax.set_xticks(places, values)
        ax.set_xlabel(key)
    _label(ax.yaxis, result, _unit(table[result]))
    return ax


def heat_map(run, result=None, keys=None, ax=None):
    """Draws a result over two swept keys: means over the seeds and any other key. Where runs failed it shows the median and their number."""
    table, swept, results = results_of(run)
    result, keys = result or results[0], keys or swept[:2]
    if len(keys) != 2:
        raise InputError(f"a heat map is over two keys, found {', '.join(keys)}")
    across, down = (list(dict.fromkeys(table[key].values)) for key in keys)
    mean, failed = np.full((len(down), len(across)), math.nan), np.zeros((len(down), len(across)), int)
    for (row, column), _ in np.ndenumerate(mean):
        own = table[result].values[(table[keys[0]].values == across[column]) & (table[keys[1]].values == down[row])]
        mean[row, column], failed[row, column] = cell(own, result)
    ax = _axes(ax, (2.6 + 0.8 * len(across), 1.6 + 0.5 * len(down)))
    image = ax.imshow(mean, cmap="cividis", aspect="auto", origin="lower")
    middle = 0.5 * (np.nanmin(mean) + np.nanmax(mean))
    for (row, column), value in np.ndenumerate(mean):
        shown = _value(float(f"{value:.4g}")) if math.isfinite(value) else "–"
        shown += f"\n{failed[row, column]} failed" if failed[row, column] else ""
        ax.text(column, row, shown, ha="center", va="center", fontsize=8,
                color="white" if not value > middle else "black")
    ax.set_xticks(range(len(across)), [_value(one, _unit(table[keys[0]])) for one in across])
    ax.set_yticks(range(len(down)), [_value(one, _unit(table[keys[1]])) for one in down])
    ax.set_xlabel(keys[0])
    ax.set_ylabel(keys[1])
    unit = _unit(table[result])
    ax.figure.colorbar(image, ax=ax, label=_name(result) + ("" if unit == "1" else f" ({unit})"))
    return ax


def staircase(run, ax=None, devices=5):
    """Draws conductance over pulses, up and down: mean and one standard deviation, a few devices, and the measured record of a fit."""
    found, ax = _group(run, "staircase"), _axes(ax)
    x, mean, deviation = found.pulse.values, found.conductance_mean.values, found.conductance_std.values
    ax.fill_between(x, mean - deviation, mean + deviation, color=COLORS[0], alpha=0.2, linewidth=0, rasterized=True)
    ax.plot(x, found.conductance.values[:devices].T, color=COLORS[0], linewidth=0.4, alpha=0.6, rasterized=True)
    ax.plot(x, mean, color=COLORS[0], label="simulated, mean and standard deviation")
    if "measured" in run.groups:
        measured = run["measured"]
        ax.plot(measured.pulse, measured.conductance, ".", color=COLORS[1], markersize=3, label="measured")
    _label(ax.xaxis, "pulses, up and then down", _unit(found.pulse))
    _label(ax.yaxis, "conductance", _unit(found.conductance_mean))
    _legend(ax)
    return ax


def drift(run, ax=None):
    """Draws the mean conductance over the time since programming, a line per level."""
    found, ax = _group(run, "drift"), _axes(ax)
    for color, level, mean in zip(COLORS, found.target.values, found.conductance_mean.values):
        ax.plot(found.time, mean, color=color, marker="o", markersize=3)
    ax.set_xscale("log")
    ax.set_xlabel(f"time since programming ({_unit(found.time)})")
    _label(ax.yaxis, "conductance", _unit(found.conductance_mean))
    return ax


def read_noise(run, ax=None):
    """Draws a histogram of looks at devices in the middle of the window."""
    found, ax = _group(run, "read_noise"), _axes(ax)
    x = found.deviation.values
    width = x[1] - x[0] if x.size > 1 else 0.01  # one bin: no noise; any width shows that
    ax.stairs(found.share, np.append(x - width / 2, x[-1] + width / 2), fill=True, color=COLORS[0])
    ax.set_xlabel("deviation from the device's line, relative to the mean")
    ax.set_ylabel("share of the looks")
    return ax


def array(values, ax=None, unit="S", title=""):
    """Draws a matrix: a ``Crossbar`` (its conductances) or any array, inputs down and outputs across."""
    if hasattr(values, "conductances"):
        values = values.conductances[0]
    values = np.asarray(values)
    if values.ndim != 2:
        raise InputError(f"array: {values.ndim} dimensions (must be 2)")
    ax = _axes(ax, (4.4, 3.4))
    image = ax.imshow(values, cmap="viridis", interpolation="nearest", aspect="auto")
    ax.set(xlabel="output", ylabel="input", title=title)
    ax.figure.colorbar(image, ax=ax, format=EngFormatter(unit) if unit in _PREFIXED else None)
    return ax


def _of_sweep(run):
    table, keys, _ = results_of(run)
    scattered = table.attrs.get("mode") in ("sobol", "random", "zip")
    out = {"points_" + key: (lambda key=key: points(run, key)) for key in keys}
    if not scattered and len(keys) > 1:
        out["ranking"] = lambda: ranking(run)
    if table.attrs.get("mode") == "grid" and len(keys) == 2:
        out["heat_map"] = lambda: heat_map(run)
    return out


def figures(run):
    """Returns all figures of a run that its file has data for, {name: Figure}."""
    makers = {}
    if "train" in run.groups:
        makers["losses"] = lambda: losses(run)
        if any(f"validation_{metric}" in run["train"] for metric in ("accuracy", "rmse")):
            makers["accuracy"] = lambda: accuracy(run)
        makers["residual"] = lambda: series(run, "residual")[0]
        if "cosine" in run["train"]:
            makers["agreement"] = lambda: agreement(run)
    if "rows" in run.groups:
        makers["agreement"] = lambda: agreement(run)
    if "points" in run.groups:
        makers.update(_of_sweep(run))
    makers.update({name: (lambda draw=draw: draw(run)) for name, draw in
                   (("staircase", staircase), ("drift", drift), ("read_noise", read_noise)) if name in run.groups})
    if not makers:
        raise InputError(f"{run!r}: nothing here has a figure")
    return {name: make().figure for name, make in makers.items()}


def save(run, path):
    """Writes ``figures(run)`` to one PDF, a page each, whole or not at all. Returns the names of the figures."""
    from matplotlib.backends.backend_pdf import PdfPages

    drawn, page = figures(run), io.BytesIO()
    with PdfPages(page, metadata={"Creator": "nudge", "CreationDate": None}) as pdf:
        for name, figure in drawn.items():
            pdf.savefig(figure)
            plt.close(figure)
    _core.write_file(os.fspath(path), page.getvalue())
    return list(drawn)
