#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the picture of the README, docs/picture.svg: the three questions, answered by three short runs of the package (half a minute).

    PYTHONPATH=build/release/python build/venv/bin/python tools/docs/picture.py docs/picture.svg
"""
import os
import pathlib
import sys

os.environ["SOURCE_DATE_EPOCH"] = "0"  # the same bytes every time

import matplotlib  # noqa: E402

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "nudge", "font.size": 8, "svg.fonttype": "none", "figure.facecolor": "white"})

import matplotlib.pyplot as plt  # noqa: E402

import nudge  # noqa: E402
import nudge.plot  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
NOISE = {
    "device.read_noise": ["3 %", "10 %"], "device.programming_error": ["10 %"], "device.step_spread": ["60 %"],
    "device.asymmetry": [0.5], "crossbar.update": ["write_verify"],
}


def main(out):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.1), layout="constrained", width_ratios=(1, 1.6, 1))
    run = nudge.train(EXAMPLES / "digits.toml", train__steps=300, train__evaluate_every=50, device__preset="ecram",
                      train__beside="implicit", estimator="ep")
    nudge.plot.losses(run, ax=left)
    left.set_title("Does it train on my device? Digits on ECRAM")
    check = nudge.gradcheck(EXAMPLES / "compare_gradients.toml", relaxation__free_steps=30,
                            gradcheck__estimators=["ep", "aep_anchored", "aep_transposed", "bptt"])
    nudge.plot.agreement(check, ax=middle)
    middle.set_title("How wrong is its gradient, and where? Cosines")
    sweep = nudge.sweep(EXAMPLES / "digits.toml", hopfield__hidden=[32], train__steps=200, device__preset="ecram",
                        sweep={"mode": "one_at_a_time", "seeds": [1, 2, 3, 4, 5, 6, 7, 8], "grid": NOISE})
    nudge.plot.ranking(sweep, ax=right)
    right.set_title("Which imperfection hurts first?")
    figure.savefig(out)
    print(f"{out}: {pathlib.Path(out).stat().st_size} bytes;", run.summary["validation_loss"], check.cosine("ep"), nudge.effects(sweep)[0])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
