# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A network of your own
# A force in a few lines of NumPy, under every estimator, checked with central differences.
#
# The network here has a knob ρ that breaks reciprocity: coupling there and back are the same at ρ = 0 and opposite at ρ = 1,
#
#     F(z) = b + ((1 − ρ) S + ρ A) tanh(z) − z,        S = Sᵀ,  A = −Aᵀ
#
# `tanh(z)` is the firing rate; the second half of the units is the output. What must be written down: the force, the two products with its
# Jacobian, and the local gradient of each parameter. They are not replaced by finite differences, since those are what derivatives are checked with.

# %%
import numpy as np

import nudge
import nudge.plot


class Rates(nudge.Dynamics):
    """F = b + tanh(z) W − z, rows are samples."""

    def force(self, z):
        return self.parameters["b"] + np.tanh(z) @ self.parameters["w"] - z

    def jvp(self, z, v):
        return (v / np.cosh(z) ** 2) @ self.parameters["w"] - v

    def vjp(self, z, u):
        return (u @ self.parameters["w"].T) / np.cosh(z) ** 2 - u

    def parameter_gradient(self, z, u):
        return {"w": np.tanh(z).T @ u, "b": u}


rng = np.random.default_rng(1)
units, samples = 12, 4
raw = rng.normal(size=(units, units)) * 0.5 / np.sqrt(units)
symmetric, skew = (raw + raw.T) / np.sqrt(2), (raw - raw.T) / np.sqrt(2)
drive, target = rng.normal(size=(samples, units)), rng.normal(size=(samples, units // 2))


def network(rho, kind=Rates):
    return kind(samples, units, {"w": (1 - rho) * symmetric + rho * skew, "b": drive})


cost = nudge.SquaredError(target, units // 2)   # C = ½ Σ (z − y)² over the second half

# %% [markdown]
# ## Checked
# `nudge.gradcheck` takes the object as it takes a config. The exact gradient is a dense solve of `Jᵀ a = −∂C/∂z`. The last rows are central differences of a few
# entries of each parameter: they use the force and the cost alone.

# %%
settled = {"free_steps": 200, "nudged_steps": 200}
names = ["ep", "aep", "aep_anchored", "aep_transposed", "dyadic"]
check = nudge.gradcheck(network(0.5), cost=cost, estimators=names, **settled)
nudge.plot.agreement(check)
print(check)

# %% [markdown]
# ## A mistake is seen
# Suppose the local gradient of `w` has a factor 2 too much. The estimators agree with each other, since all of them use it. The differences do not.

# %%
class Wrong(Rates):
    def parameter_gradient(self, z, u):
        return {"w": 2 * np.tanh(z).T @ u, "b": u}


wrong = nudge.gradcheck(network(0.5, Wrong), cost=cost, estimators=["aep_anchored"], **settled)
print(wrong)

# %% [markdown]
# ## Over the knob
# How much does plain EP lose as the coupling leaves reciprocity?

# %%
import matplotlib.pyplot as plt

rhos = np.linspace(0, 1, 9)
names = ["ep", "aep_anchored"]
cosines = {name: [] for name in names}
for rho in rhos:
    table = nudge.gradcheck(network(rho), cost=cost, estimators=names, finite_difference_entries=0, **settled)
    for name in names:
        cosines[name].append(table.cosine(name, "w"))
ax = plt.subplots(figsize=(6, 3), layout="constrained")[1]
for color, name in zip(nudge.plot.COLORS, names):
    ax.plot(rhos, cosines[name], "o-", color=color, label=name)
ax.set(xlabel="ρ: 0 reciprocal, 1 opposite", ylabel="cosine of the gradient of w")
ax.legend(frameon=False);

# %% [markdown]
# What to see: AEP does not notice the knob; plain EP loses, and even at ρ = 0 it is off. The coupling is symmetric, but the gain of the unit, `tanh'(z)`, stands on one side of it only:
# `J = W diag(tanh') − 1` is not symmetric. A force with an energy has it on both sides.
#
# ## Over β and noise
# A sweep of the same object: options, and `noise`, the σ of `τ dz = F dt + σ dW` in every phase.

# %%
table = nudge.sweep(network(0.5), cost=cost, estimators=["aep_anchored"], **settled,
                    sweep={"seeds": [1, 2, 3],
                           "grid": {"beta": list(np.logspace(-5, 0, 6)), "noise": [0.0, 1e-4, 1e-3]}})
ax = plt.subplots(figsize=(6, 3), layout="constrained")[1]
for color, sigma in zip(nudge.plot.COLORS, table.noise.values):
    error = table.relative_l2.sel(estimator="aep_anchored", noise=sigma).mean("seed")
    ax.loglog(table.beta, error, "o-", color=color, label=f"σ = {sigma:g}")
ax.set(xlabel="β", ylabel="|g − exact| / |exact|")
ax.legend(frameon=False);

# %% [markdown]
# What to see: without noise the error falls as β². With noise it grows as σ/β. The best β lies where the two meet.
#
# One function is enough where derivatives can be taken from it: `nudge.torch.dynamics(force, parameters, shape)` by `torch.func`,
# `nudge.jax.dynamics(...)` by JAX; `energy(...)` of both for a network that has one.
#
# **And then.** On data such a network trains by `nudge.train(system, data)`: [oscillators](xy_network.ipynb), [a resistor graph](resistor_graph.ipynb),
# [a memory](memory.ipynb). A force of Python takes the time of its functions; for long trainings there are the C++ networks of the configs ([networks](../reference/networks.md)).

# %%
assert float(check.table.relative_l2.sel(estimator="finite_difference", group="all")) < 1e-6
assert float(wrong.table.relative_l2.sel(estimator="finite_difference", group="w")) > 0.4
assert cosines["ep"][-1] < cosines["ep"][0] < 0.99 and min(cosines["aep_anchored"]) > 1 - 1e-9
