# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Gradients step by step
# Every step of the nudged phase adds to the gradient what one step of backprop through time adds.
#
# Let G(z_t) be the gradient that the nudged states of step t give, and ∇_t the part of backprop of the t-th step from the end of the free phase:
#
#     Δ_t = G(z_{t+1}) − G(z_t) = ∇_t        for β → 0 and a free phase that stands still
#
# Ernoult et al. 2019 (arXiv:1905.13633, theorem 1) proved this; their figures 2 and 3 draw both as curves over t that lie on each other.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nudge
import nudge.plot


def recorded(**options):
    """Δ and ∇ (groups, steps), and the largest distance of the two over the largest ∇, per group."""
    check = nudge.gradcheck("../../examples/gradient_steps.toml", threads=1, **options)
    record = check.run.record.isel(sample=0)
    found, exact = record["update"].values[0], record["bptt"].values
    return found, exact, np.nanmax(record["distance"].values[0], 1) / np.nanmax(np.abs(exact), 1)


# %% [markdown]
# Left: one sample of the digits, a network 64-64-64-10 of tanh units, centered nudges of β = 0.01. Right: how far the curves lie apart, over β.

# %%
seeds, betas = (1, 2, 3), (0.003, 0.02, 0.1)
apart = {sides: np.array([[recorded(seed=seed, beta=beta, nudge__sides=sides)[2].max() for beta in betas] for seed in seeds])
         for sides in ("centered", "positive")}
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for k, (found, exact) in enumerate(zip(*recorded()[:2])):
    if k < 3:  # the weights
        left.plot(exact, color=nudge.plot.COLORS[k], lw=1, label=f"W{k + 1}, backprop")
        left.plot(found, "o", color=nudge.plot.COLORS[k], markersize=3, label=f"W{k + 1}, nudged")
left.set(xlabel="step t", ylabel="part of the gradient", title="Steps of both phases agree")
left.legend(frameon=False, fontsize="small")
for color, (sides, curves) in zip(nudge.plot.COLORS, apart.items()):
    right.loglog(betas, curves.T, "o-", color=color, markersize=3, lw=0.8, label=[sides, None, None])
right.set(xlabel="β", ylabel="largest distance / largest ∇", title="They part with β² or β")
right.legend(frameon=False, fontsize="small")
slopes = {sides: np.polyfit(np.log(betas), np.log(curves).T, 1)[0] for sides, curves in apart.items()}
moving = np.array([recorded(seed=seed, relaxation__free_steps=6, relaxation__nudged_steps=6)[2].max() for seed in seeds])
for sides, slope in slopes.items():
    print(f"{sides}: distance ~ β^{slope.min():.2f} to β^{slope.max():.2f}, {len(seeds)} seeds")
print(f"6 free steps instead of 1500: distance {moving.min():.2f} to {moving.max():.2f} of the largest ∇")

# %% [markdown]
# What to see: the error enters at the output, W3, and reaches W2 one step later and W1 two steps later. Dots lie on lines, as in the published figures.
# With one nudge the distance falls as β, with two as β². A free phase that still moves parts the curves at any β: the theorem asks for one that stands still.
#
# **Caveat.** First weights and one sample per seed, on pictures of 8 x 8. The paper has MNIST and a convolutional network, too.

# %%
assert all(1.8 < s < 2.2 for s in slopes["centered"]) and all(0.8 < s < 1.2 for s in slopes["positive"])
assert apart["centered"][:, 1].max() < 0.01 and moving.min() > 0.1
