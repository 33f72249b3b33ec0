#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the README and of the home page: the three questions, answered by three short runs of the package.

    export PYTHONPATH=build/release/python
    build/venv/bin/python tools/docs/picture.py --measure    # half a minute: the runs, kept in results/picture.json
    build/venv/bin/python tools/docs/picture.py              # draws the pictures, and renders README's caption

One picture per file, readable on a phone: docs/picture_device.svg, picture_gradient.svg, picture_ranking.svg. The titles say what came out.
Each holds a digest of the numbers that it was drawn from; `results.py --check` compares it with the file.
"""
import os
import pathlib
import sys

os.environ["SOURCE_DATE_EPOCH"] = "0"  # the same bytes every time

import matplotlib  # noqa: E402

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "nudge", "font.size": 9, "axes.titlesize": 10, "svg.fonttype": "none", "figure.facecolor": "white"})

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import xarray  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/results"))
import results  # noqa: E402
import sections  # noqa: E402

import nudge  # noqa: E402
import nudge.plot  # noqa: E402

TRAIN = ("examples/digits.toml", {"train.steps": 300, "train.evaluate_every": 50, "device.preset": "ecram", "train.beside": "implicit", "estimator": "ep"})
ESTIMATORS = ["ep", "aep_anchored", "aep_transposed", "bptt"]
CHECK = ("examples/compare_gradients.toml", {"relaxation.free_steps": 30, "gradcheck.estimators": ESTIMATORS})
SWEEP = ("examples/digits.toml", {"hopfield.hidden": [32], "train.steps": 200, "device.preset": "ecram", "sweep.mode": "one_at_a_time",
                                  "sweep.seeds": [1, 2, 3, 4, 5, 6, 7, 8]})
NOISE = {"device.read_noise": ["3 %", "10 %"], "device.programming_error": ["10 %"], "device.step_spread": ["60 %"], "device.asymmetry": [0.5],
         "crossbar.update": ["write_verify"]}
CAPTION = """*Left: digits learned by a layered network, whose coupling is symmetric, on published ECRAM devices with the noise and mismatch of the circuit. Plain EP and the exact
gradient on ideal weights lie on each other; frozen devices stay above (one seed). Middle: attention, whose coupling is not symmetric, 30 free steps
(`examples/compare_gradients.toml` itself has 8). Hollow dots are groups of parameters, filled dots all of them. Plain EP is wrong in every group but the read-out; the asymmetric forms are not.
Right: difference to the device as published, {seeds} seeds, simultaneous 95 % intervals (all {effects} of the picture); filled dots exclude 0.*"""


class Kept:
    """Groups of a run that were kept in a results file, as nudge.plot reads them."""

    def __init__(self, groups):
        self.kept = {name: xarray.Dataset.from_dict(group) for name, group in groups.items()}
        self.groups, self.attrs = list(self.kept), {}

    def __getitem__(self, name):
        return self.kept[name]


def plain(value):
    """Numbers of numpy as JSON has them, without what describes a dataset to readers."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items() if key not in ("encoding", "description", "long_name")}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.7g}") if np.isfinite(value) else None
    return value.decode() if isinstance(value, bytes) else value


def kept(run, names, columns):
    return {name: plain(run[name][[one for one in columns if one in run[name]]].to_dict()) for name in names if name in run.groups}


def command(verb, config, settings, grid=None):
    more = {f"sweep.grid.{key}": value for key, value in (grid or {}).items()}
    return results.shown(verb, config, [f"{key}={sections.word(value) if isinstance(value, list) else value}" for key, value in (settings | more).items()], f"picture_{verb}")


def keywords(settings):
    return {key.replace(".", "__"): value for key, value in settings.items()}


def angles(check):
    """1 − cosine of each estimator and group: seven digits of the cosine itself would not tell it from 1."""
    groups = [str(one) for one in check.table.group.values]
    return {name: {group: plain(1 - check.cosine(name, group)) for group in groups} for name in ESTIMATORS}


def measure():
    run = nudge.train(ROOT / TRAIN[0], **keywords(TRAIN[1]))
    lanes = [name for name in run.groups if name == "train" or name.endswith("/train")]
    check = nudge.gradcheck(ROOT / CHECK[0], **keywords(CHECK[1]))
    sweep = nudge.sweep(ROOT / SWEEP[0], **keywords({key: value for key, value in SWEEP[1].items() if not key.startswith("sweep.")}),
                        sweep={"mode": SWEEP[1]["sweep.mode"], "seeds": SWEEP[1]["sweep.seeds"], "grid": NOISE})
    _, keys, names = nudge.ranked.results_of(sweep)
    data = {"losses": kept(run, lanes, ("loss", "validation_loss")), "angles": angles(check),
            "ranking": kept(sweep, ["points"], (*keys, names[0], "seed", "status"))}
    data["ranking"]["points"]["attrs"]["results"] = names[0]
    commands = [command("train", *TRAIN), command("gradcheck", *CHECK), command("sweep", *SWEEP, NOISE)]
    caption = CAPTION.format(seeds=len(SWEEP[1]["sweep.seeds"]), effects=len(nudge.effects(sweep, names[0])))
    results.keep("picture", commands, [results.commit()], [{"document": "README.md", "content": [caption],
                 "brief": " Drawn from `results/picture.json` by `tools/docs/picture.py`."}], data, figures=[file(panel) for panel, _ in PANELS])


def device(ax, data):
    run = Kept(data["losses"])
    nudge.plot.losses(run, ax=ax)
    for line in ax.lines:
        if str(line.get_label()).startswith("implicit") and line.get_linestyle() == "-":
            line.set_linestyle((0, (3, 3)))   # the two curves lie on each other
    names = [("ep (frozen devices)", "frozen devices"), ("implicit (beside)", "exact gradient"), ("ep,", "EP on ECRAM,")]
    labels = []
    for handle, label in zip(*ax.get_legend_handles_labels()):
        for old, new in names:
            label = label.replace(old, new)
        labels.append((handle, label))
    ax.get_figure().legend(*zip(*labels), loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    if ax.get_legend():
        ax.get_legend().remove()
    own, exact = (float(run[name].validation_loss[-1]) for name in ("train", "beside/train"))
    return f"On ECRAM, EP ends at a loss of {own:.3f},\nthe exact gradient on ideal weights at {exact:.3f}"


def gradient(ax, data):
    for row, (found, color) in enumerate(zip(data["angles"].values(), nudge.plot.COLORS)):
        groups = [max(angle, 1e-10) for group, angle in found.items() if group != "all"]
        ax.plot(groups, [row] * len(groups), "o", mfc="none", color=color)
        ax.plot(found["all"], row, "o", color=color)
    ax.set(xscale="log", xlim=(1e-10, 2), xlabel="1 − cosine with the exact gradient", ylim=(len(data["angles"]) - 0.5, -0.5))
    ax.set_yticks(range(len(data["angles"])), list(data["angles"]))
    ax.grid(axis="x", alpha=0.3)
    return f"Plain EP has a cosine of {1 - data['angles']['ep']['all']:.2f} with the exact gradient,\nasymmetric EP is right"


def ranking(ax, data):
    sweep = Kept(data["ranking"])
    nudge.plot.ranking(sweep, ax=ax)
    ax.set_xlabel("validation accuracy (points)")
    first = nudge.effects(sweep)[0]
    return f"{first.key} = {first.value} costs most:\n{100 * first.mean:+.1f} points of accuracy"


PANELS = ((device, 3.4), (gradient, 2.4), (ranking, 3.2))  # and their heights, inch


def file(panel):
    return f"docs/picture_{panel.__name__}.svg"


def draw():
    data = sections.load()["picture"]["data"]
    for panel, height in PANELS:
        figure, ax = plt.subplots(figsize=(4.8, height), layout="constrained")
        title = panel(ax, data)
        ax.set_title("")
        figure.suptitle(title, fontsize=10)
        out = ROOT / file(panel)
        figure.savefig(out, metadata={"Description": sections.digest(data)})
        print(f"{file(panel)}: {out.stat().st_size} bytes; {title}")
    print("\n".join(sections.render(["picture"])))


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--measure"]):
        sys.exit(__doc__)
    if sys.argv[1:]:
        measure()
    draw()
