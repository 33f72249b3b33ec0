#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the README and of the home page: the three questions, answered by three short runs of the package (half a minute).

    PYTHONPATH=build/release/python build/venv/bin/python tools/docs/picture.py docs

One picture per file, readable on a phone: docs/picture_device.svg, picture_gradient.svg, picture_ranking.svg. The titles say what came out.
"""
import os
import pathlib
import sys

os.environ["SOURCE_DATE_EPOCH"] = "0"  # the same bytes every time

import matplotlib  # noqa: E402

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "nudge", "font.size": 9, "axes.titlesize": 10, "svg.fonttype": "none", "figure.facecolor": "white"})

import matplotlib.pyplot as plt  # noqa: E402

import nudge  # noqa: E402
import nudge.plot  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
NOISE = {
    "device.read_noise": ["3 %", "10 %"], "device.programming_error": ["10 %"], "device.step_spread": ["60 %"],
    "device.asymmetry": [0.5], "crossbar.update": ["write_verify"],
}


def device(ax):
    run = nudge.train(EXAMPLES / "digits.toml", train__steps=300, train__evaluate_every=50, device__preset="ecram",
                      train__beside="implicit", estimator="ep")
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
    exact = run.summary["beside"]["validation_loss"]
    return f"On ECRAM, EP ends at a loss of {run.summary['validation_loss']:.3f},\nthe exact gradient on ideal weights at {exact:.3f}"


def gradient(ax):
    check = nudge.gradcheck(EXAMPLES / "compare_gradients.toml", relaxation__free_steps=30,
                            gradcheck__estimators=["ep", "aep_anchored", "aep_transposed", "bptt"])
    names = ["ep", "aep_anchored", "aep_transposed", "bptt"]
    groups = [str(one) for one in check.table.group.values if str(one) != "all"]
    for row, (name, color) in enumerate(zip(names, nudge.plot.COLORS)):
        ax.plot([max(1 - check.cosine(name, one), 1e-10) for one in groups], [row] * len(groups), "o", mfc="none", color=color)
        ax.plot(1 - check.cosine(name), row, "o", color=color)
    ax.set(xscale="log", xlim=(1e-10, 2), xlabel="1 − cosine with the exact gradient", ylim=(len(names) - 0.5, -0.5))
    ax.set_yticks(range(len(names)), names)
    ax.grid(axis="x", alpha=0.3)
    return f"Plain EP has a cosine of {check.cosine('ep'):.2f} with the exact gradient,\nasymmetric EP is right"


def ranking(ax):
    sweep = nudge.sweep(EXAMPLES / "digits.toml", hopfield__hidden=[32], train__steps=200, device__preset="ecram",
                        sweep={"mode": "one_at_a_time", "seeds": [1, 2, 3, 4, 5, 6, 7, 8], "grid": NOISE})
    nudge.plot.ranking(sweep, ax=ax)
    ax.set_xlabel("validation accuracy (points)")
    first = nudge.effects(sweep)[0]
    return f"{first.key} = {first.value} costs most:\n{100 * first.mean:+.1f} points of accuracy"


def main(folder):
    for draw, height in [(device, 3.4), (gradient, 2.4), (ranking, 3.2)]:
        figure, ax = plt.subplots(figsize=(4.8, height), layout="constrained")
        title = draw(ax)
        ax.set_title("")
        figure.suptitle(title, fontsize=10)
        out = pathlib.Path(folder) / f"picture_{draw.__name__}.svg"
        figure.savefig(out)
        print(f"{out}: {out.stat().st_size} bytes; {title}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
