# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # One, two and three hidden layers
# Networks of one, two and three hidden layers learn digits; depth does not help. Three layers learn less by a large nudge.
#
# Scellier & Bengio 2017 (arXiv:1602.05179) trained such networks of 500 units a layer on MNIST. Their figure 4 has training and validation
# errors over epochs: training errors end at 0.00 % for every depth, validation errors between 2 and 3 %. Here: 64 units a layer, the 1797 digits that ship, eight epochs of Adam.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nudge
import nudge.plot

config, seeds = "../../examples/digits_deep.toml", range(1, 6)
cases = {"1 hidden layer": (1, 8, 0.05), "2 hidden layers": (2, 16, 0.05), "3 hidden layers": (3, 30, 0.05), "3, β = 0.25": (3, 30, 0.25)}


def learnt(layers, free_steps, beta, seed):
    """Validation errors by epoch, and the error over 63 training batches at the end, in %."""
    keys = {"seed": seed, "threads": 1, "hopfield__hidden": [64] * layers, "relaxation__free_steps": free_steps, "task__references": "off"}
    run = nudge.train(config, beta=beta, **keys)
    weights = run["parameters"]
    net = nudge.Network(config, weights={name: weights[name].values for name in weights.data_vars}, **keys)
    x, y = (np.concatenate(part) for part in zip(*(net.batch(step) for step in range(63))))
    answers = net.evaluate(x, y)[0].reshape(len(y), -1).argmax(1)
    return 100 - 100 * run.train.validation_accuracy.values, 100 * np.mean(answers != y)


runs = {name: [learnt(*case, seed) for seed in seeds] for name, case in cases.items()}

# %%
ax = plt.subplots(figsize=(6, 3.4), layout="constrained")[1]
for color, (name, found) in zip(nudge.plot.COLORS, runs.items()):
    curves = np.array([errors for errors, _ in found])
    ax.semilogy(curves.mean(0), "o-", color=color, markersize=3, label=name)
    ax.fill_between(range(curves.shape[1]), curves.min(0), curves.max(0), color=color, alpha=0.15, linewidth=0)
ax.set(xlabel="epoch", ylabel="validation error (%)", title="Deeper networks end higher")
ax.legend(frameon=False, fontsize="small")
half = lambda values: 2.776 * np.std(values, 0, ddof=1) / len(values) ** 0.5  # Student's t, 4 degrees of freedom
last = {name: np.array([(errors[-1], trained) for errors, trained in found]) for name, found in runs.items()}
last["3 − 1 hidden layers"], last["3 layers, β = 0.25 − 0.05"] = last["3 hidden layers"] - last["1 hidden layer"], last["3, β = 0.25"] - last["3 hidden layers"]
for name, values in last.items():
    print(f"{name}: validation error {values.mean(0)[0]:.2f} ± {half(values)[0]:.2f} %, training error {values.mean(0)[1]:.2f} ± {half(values)[1]:.2f} %, {len(seeds)} seeds")

# %% [markdown]
# What to see: lines are means of five seeds, bands their smallest and largest. Three layers end above one, in both errors. A nudge of 0.25 raises the training error of three layers; the interval of
# its validation error holds 0. [Its bias](nudge_bias.ipynb) is no longer small there.
#
# **Agreement.** As published, training errors go below validation errors and networks of every depth learn. Not as published, training errors have not reached 0: eight epochs
# are few beside tens to hundreds. Validation errors are larger: there are 1,258 training samples of 8 x 8 pixels. We used Adam;
# the paper's rates per layer and persistent states are the keys `train.layer_rates` and `relaxation.persistent_states`.

# %%
assert all((last[name].mean(0) - half(last[name])).min() > 0 for name in ("3 − 1 hidden layers",)) and (last["3 layers, β = 0.25 − 0.05"].mean(0) - half(last["3 layers, β = 0.25 − 0.05"]))[1] > 0
assert all(values[:, 1].max() < values[:, 0].min() for name, values in last.items() if name in ("1 hidden layer", "2 hidden layers", "3 hidden layers"))
