#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README's picture, docs/picture.svg: the three questions, answered by three short runs of the package.

    export PYTHONPATH=build/release/python
    build/venv/bin/python tools/docs/picture.py --measure    # half a minute: the runs, kept in results/picture.json
    build/venv/bin/python tools/docs/picture.py              # draws the file, and renders the caption

The picture holds a digest of the numbers that it was drawn from; `results.py --check` compares it with the file.
"""
import os
import pathlib
import sys

os.environ["SOURCE_DATE_EPOCH"] = "0"  # the same bytes every time

import matplotlib  # noqa: E402

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "nudge", "font.size": 8, "svg.fonttype": "none", "figure.facecolor": "white"})

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
CHECK = ("examples/compare_gradients.toml", {"relaxation.free_steps": 30, "gradcheck.estimators": ["ep", "aep_anchored", "aep_transposed", "bptt"]})
SWEEP = ("examples/digits.toml", {"hopfield.hidden": [32], "train.steps": 200, "device.preset": "ecram", "sweep.mode": "one_at_a_time",
                                  "sweep.seeds": [1, 2, 3, 4, 5, 6, 7, 8]})
NOISE = {"device.read_noise": ["3 %", "10 %"], "device.programming_error": ["10 %"], "device.step_spread": ["60 %"], "device.asymmetry": [0.5],
         "crossbar.update": ["write_verify"]}
CAPTION = """*Left: digits on published ECRAM devices pulsed in place, with the noise and mismatch of the circuit, plain EP beside the exact gradient on exact weights, one seed, frozen devices above. Middle: cosines
with the exact gradient on a block with sharp attention, 30 free steps (`examples/compare_gradients.toml` itself has 8): plain EP is wrong in every group but the
read-out, the asymmetric forms are not. Right: difference to the device as published, {seeds} seeds, 95 % over all {effects} intervals of the panel; filled dots leave out zero.*"""


class Kept:
    """Groups of a run that were kept in a results file, as nudge.plot reads them."""

    def __init__(self, groups, attributes=None):
        self.kept = {name: xarray.Dataset.from_dict(group) for name, group in groups.items()}
        self.groups, self.attrs = list(self.kept), attributes or {}

    def __getitem__(self, name):
        return self.kept[name]


class Checked:
    """The table of a gradcheck."""

    def __init__(self, table):
        self.table, self.groups = xarray.Dataset.from_dict(table), []


def plain(value):
    """Numbers of numpy as JSON has them."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items() if key != "encoding"}
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


def measure():
    run = nudge.train(ROOT / TRAIN[0], **keywords(TRAIN[1]))
    lanes = [name for name in run.groups if name == "train" or name.endswith("/train")]
    check = nudge.gradcheck(ROOT / CHECK[0], **keywords(CHECK[1]))
    sweep = nudge.sweep(ROOT / SWEEP[0], **keywords({key: value for key, value in SWEEP[1].items() if not key.startswith("sweep.")}),
                        sweep={"mode": SWEEP[1]["sweep.mode"], "seeds": SWEEP[1]["sweep.seeds"], "grid": NOISE})
    _, keys, names = nudge.ranked.results_of(sweep)
    data = {"losses": kept(run, lanes, ("loss", "validation_loss")), "agreement": plain(check.table[["cosine"]].to_dict()),
            "ranking": kept(sweep, ["points"], (*keys, names[0], "seed", "status"))}
    data["ranking"]["points"]["attrs"]["results"] = names[0]
    commands = [command("train", *TRAIN), command("gradcheck", *CHECK), command("sweep", *SWEEP, NOISE)]
    caption = CAPTION.format(seeds=len(SWEEP[1]["sweep.seeds"]), effects=len(nudge.effects(sweep, names[0])))
    results.keep("picture", commands, [results.commit()], [{"document": "README.md", "content": [caption],
                 "brief": " Drawn from results/picture.json by `tools/docs/picture.py`."}], data, figure="docs/picture.svg")


def draw():
    data = sections.load()["picture"]["data"]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.1), layout="constrained", width_ratios=(1, 1.6, 1))
    nudge.plot.losses(Kept(data["losses"]), ax=left)
    left.set_title("Does it train on my device? Digits on ECRAM")
    nudge.plot.agreement(Checked(data["agreement"]), ax=middle)
    middle.set_title("How wrong is its gradient, and where? Cosines")
    nudge.plot.ranking(Kept(data["ranking"]), ax=right)
    right.set_title("Which imperfection hurts first?")
    figure.savefig(ROOT / "docs/picture.svg", metadata={"Description": sections.digest(data)})
    print("\n".join(sections.render(["picture"])))


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--measure"]):
        sys.exit(__doc__)
    if sys.argv[1:]:
        measure()
    draw()
