#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what a cosine costs a chip whose nudge swings, results/lock_in.svg, of the points that tools/results/lock_in.py has measured:

    build/venv/bin/python tools/docs/lock_in_picture.py results/lock_in.json results/lock_in.svg
"""
import json
import os
import pathlib
import sys

os.environ["SOURCE_DATE_EPOCH"] = "0"  # the same bytes every time

import matplotlib  # noqa: E402

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "nudge", "font.size": 8, "svg.fonttype": "none", "figure.facecolor": "white"})

import matplotlib.pyplot as plt  # noqa: E402

WANTED = 0.99


def main(points, out):
    cases = json.loads(pathlib.Path(points).read_text()).get("data")
    if cases is None:
        sys.exit(f"{points} is of before points were kept: make results TABLES=lock_in")
    ways = list(dict.fromkeys(way for case in cases.values() for way, *_ in case))
    colours = {way: "black" if way == "stands still" else plt.cm.viridis(k / max(1, len(ways) - 1)) for k, way in enumerate(ways)}
    figure, axes = plt.subplots(1, len(cases), figsize=(4 * len(cases), 3.3), layout="constrained", sharex=True, sharey=True)
    for ax, (name, case) in zip(axes, cases.items()):
        for way in ways:
            for beta, line in ((0.03, "--"), (0.3, "-")):
                own = sorted((total, 1 - cosine) for w, b, total, cosine in case if (w, b) == (way, beta) and cosine is not None)
                if own:
                    ax.loglog(*zip(*own), line, marker=".", color=colours[way], label=way if beta == 0.3 else None)
        ax.axhline(1 - WANTED, color="0.7", linewidth=0.8)
        ax.set_title(name)
        ax.set_xlabel("time in all, tau")
    axes[0].set_ylabel("1 − cosine with the exact gradient")
    axes[0].legend(fontsize=7, title="beta 0.3; dashed 0.03")
    figure.savefig(out)
    print(f"{out}: {pathlib.Path(out).stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
