# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Noise ranked
# *The path of someone with a question and a grid. Question: which imperfection hurts first?*
#
# Start from a device that works. Move one imperfection at a time, with several seeds. Rank what each does to the
# accuracy on held-out digits (the first result that the file of a sweep names):
#
#     effect = accuracy(moved, seed) − accuracy(config, seed),        mean over seeds ± t · s/√n
#
# The pairs share their seed: the same data, the same first weights. What the seeds have in common drops out.

# %%
import nudge
import nudge.plot

config = {
    "seed": 1, "threads": 1, "estimator": "ep", "beta": 0.25,
    "network": {"kind": "hopfield"}, "task": {"kind": "classification"},
    "hopfield": {"hidden": [32], "form": "projected"},
    "relaxation": {"schedule": "sweep", "step": 1.0, "free_steps": 10, "nudged_steps": 6},
    "device": {"preset": "ecram"},
    "train": {"steps": 100, "learning_rate": 3e-3},
    "sweep": {
        "mode": "one_at_a_time", "seeds": [1, 2, 3, 4],
        "grid": {
            "device.read_noise": ["1 %"],
            "device.programming_error": ["10 %"],
            "device.step_spread": ["60 %"],
            "device.asymmetry": [0.5],
            "crossbar.update": ["write_verify"],
        },
    },
}
sweep = nudge.sweep(config)
print(sweep.summary["ok"], "of", len(sweep.summary["points"]), "runs ended well")

# %% [markdown]
# ## The ranking
# Dots: mean difference to the config. Lines: 95 % interval of Student's t over the seeds. A filled dot leaves out zero.

# %%
nudge.plot.ranking(sweep)
for effect in nudge.effects(sweep):
    print(f"{effect.key:<26} {effect.start!s:>8} -> {effect.value!s:<13} {effect.mean:+.4f} [{effect.low:+.4f}, {effect.high:+.4f}]"
          f"{'' if effect.certain else '   not beyond the scatter of the seeds'}")

# %% [markdown]
# What to see: the order, and which intervals leave out zero. An interval that holds zero does not say "no effect": it says that these seeds cannot tell.
#
# ## The worst one, over its size
# One key, more values: where does it begin to hurt?

# %%
worst = nudge.effects(sweep)[0]
along = nudge.sweep({**config, "sweep": {"seeds": [1, 2, 3, 4], "grid": {"device.read_noise": ["0 %", "0.1 %", "0.3 %", "1 %", "3 %"]}}})
ax = nudge.plot.points(along)
ax.set_xscale("symlog", linthresh=1e-3)

# %% [markdown]
# ## Two at once
# A heat map of means over the seeds. If effects add, rows differ by the same amount in every column.

# %%
pair = nudge.sweep({**config, "sweep": {"seeds": [1, 2], "grid": {
    "device.read_noise": ["0 %", "0.3 %", "1 %"], "device.asymmetry": [0, 0.5, 0.9]}}})
nudge.plot.heat_map(pair);

# %% [markdown]
# All figures of a sweep as a PDF for a paper, a page each:

# %%
import pathlib
import tempfile

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "sweep.pdf"
    print(nudge.plot.save(sweep, path), path.stat().st_size > 0)

# %% [markdown]
# **Caveat.** The ranking holds for the sizes that you chose: 1 % of one thing against 10 % of another. It is local to this config, its 60 steps and
# this network. Four seeds find large effects only; add seeds with `resume=True` and keep what is there.

# %%
assert sweep.summary["ok"] == len(sweep.summary["points"])
assert worst.seeds == 4
