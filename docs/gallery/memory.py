# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A memory that learns what to complete
# A modern Hopfield network whose patterns are devices, trained to restore pictures.
#
# The energy of Ramsauer et al. (arXiv:2008.02217), with the corrupted picture x as a field that holds the state,
#
#     E = ½ |z|² − (1/β) log Σ_μ exp(β ξ_μ·z) + ½ λ |z − x|²,        F = λ (x − z) + softmax(β z ξᵀ) ξ − z
#
# The patterns ξ are usually given. Here they are learnt: the state has to settle at the clean picture.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nudge


class Memory(nudge.EnergyDynamics):
    field, sharpness = 0.5, 6.0

    def __init__(self, patterns, units):
        super().__init__(1, units, {"xi": 0.1 * np.random.default_rng(1).normal(size=(patterns, units))})
        self.leak = 1 + self.field

    def weights(self, z):
        p = np.exp(self.sharpness * (a := z @ self.parameters["xi"].T) - self.sharpness * a.max(1, keepdims=True))
        return p / p.sum(1, keepdims=True)

    def force(self, z):
        return self.field * self.input + self.weights(z) @ self.parameters["xi"] - self.leak * z

    def jvp(self, z, v):
        p, moved = self.weights(z), self.sharpness * v @ self.parameters["xi"].T
        return (p * (moved - np.sum(p * moved, 1, keepdims=True))) @ self.parameters["xi"] - self.leak * v

    def energy(self, z):
        a = self.sharpness * z @ self.parameters["xi"].T
        top = a.max(1)
        sums = top + np.log(np.exp(a - top[:, None]).sum(1))
        return float(0.5 * np.sum(z**2) - np.sum(sums) / self.sharpness + 0.5 * self.field * np.sum((z - self.input) ** 2))

    def energy_gradient(self, z):
        return {"xi": -self.weights(z).T @ z}

    def parameter_gradient(self, z, u):
        p, back = self.weights(z), self.sharpness * u @ self.parameters["xi"].T
        return {"xi": p.T @ u + (p * (back - np.sum(p * back, 1, keepdims=True))).T @ z}


digits = np.loadtxt("../../training/digits.csv", delimiter=",", comments="#", skiprows=4)[:, 1:] / 16
clean = digits - digits.mean(0)
rng = np.random.default_rng(0)
corrupted = np.where(rng.random(clean.shape) < 0.4, 0, clean) + 0.15 * rng.normal(size=clean.shape)
memory, data = Memory(128, 64), (corrupted, clean)
task = {"data__scaling": "none", "task__references": "off", "train__batch": 16, "data__validation_samples": 160, "threads": 1}
settle = {"relaxation__step": 0.4, "relaxation__free_steps": 40, "relaxation__nudged_steps": 30}

# %%
check = nudge.gradcheck(memory, data, **task, relaxation__step=0.4, relaxation__free_steps=300, relaxation__nudged_steps=300,
                        gradcheck__estimators=["ep", "ep_contrastive"])
print(check)

# %% [markdown]
# ## Trained on numbers and on devices
# Beside both: what a picture is worth as it comes, and the best that a linear map of the corrupted pictures does.

# %%
training = {**task, **settle, "train__steps": 1500, "train__learning_rate": 0.02, "train__evaluate_every": 500}
numbers = nudge.train(memory, data, estimator="ep", beta=0.05, **training)
devices = nudge.train(memory, data, estimator="ep", beta=0.2, **training, device__preset="ecram", hardware__level="ideal",
                      train__null="all")
parts = corrupted[:1400], clean[:1400], corrupted[1400:], clean[1400:]
linear = parts[2] @ np.linalg.solve(parts[0].T @ parts[0] + 5 * np.eye(64), parts[0].T @ parts[1])
losses = {"as it comes": 0.5 * np.mean(np.sum((parts[2] - parts[3]) ** 2, 1)), "nothing (the mean picture)": 0.5 * np.mean(np.sum(parts[3]**2, 1)),
          "a linear map": 0.5 * np.mean(np.sum((linear - parts[3]) ** 2, 1)), "memory, numbers": numbers.summary["test_loss"],
          "memory, ecram": devices.summary["test_loss"]}
for name, loss in losses.items():
    print(f"{name:<28} {loss:.3f}")

# %%
network = Memory(128, 64)
network.parameters, network.input, network.rows = {"xi": numbers.parameters.xi.values}, corrupted[1400:1408], 8
restored, _ = nudge.settle(network, step=0.4, free_steps=100)
panels = plt.subplots(3, 8, figsize=(6, 2.4))[1]
for row, pictures in zip(panels, (corrupted[1400:1408], restored, clean[1400:1408])):
    for ax, picture in zip(row, pictures):
        ax.imshow(picture.reshape(8, 8), cmap="gray")
        ax.axis("off");

# %% [markdown]
# The rows: corrupted, restored, clean.
#
# What to see: a state that a field holds settles at a picture that is nearer to the clean one than it started, with patterns that devices hold, and by a rule that is local:
# each device sees its unit and its pattern's share. A linear map of the same pictures does as well as the memory: these digits are nearly linear to
# complete, and the point here is what learns, not the score.

# %%
assert check.cosine("ep") > 1 - 1e-6 and check.cosine("finite_difference") > 1 - 1e-6
assert losses["memory, numbers"] < 1.2 * losses["a linear map"] < 0.8 * losses["as it comes"]
assert losses["memory, ecram"] < 0.8 * losses["as it comes"] and devices.summary["null"]["devices_learnt"]
