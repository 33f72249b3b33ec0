# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Coupled oscillators that learn
# Phases instead of voltages, trained on devices: an energy of six lines, everything else from the program.
#
# Every unit is an oscillator with a phase φ; a coupling pulls two phases together or apart. Inputs are phases that are held, outputs are read
# as they are. The energy is that of an XY model,
#
#     E = − Σ W₁[i,h] cos(φ_h − π x_i) − Σ W₂[h,o] cos(φ_h − φ_o) − Σ b cos φ
#
# with a field b that holds every phase. Force, J v and the derivatives by the parameters are written out.

# %%
import numpy as np

import nudge
import nudge.plot


class Phases(nudge.EnergyDynamics):
    def __init__(self, inputs, hidden, outputs):
        rng = np.random.default_rng(0)
        super().__init__(1, hidden + outputs, {"W1": 0.6 * rng.normal(size=(inputs, hidden)) / np.sqrt(inputs),
                                               "W2": 0.6 * rng.normal(size=(hidden, outputs)) / np.sqrt(hidden),
                                               "b": np.full(hidden + outputs, 2.0)})
        self.output, self.split = (hidden, hidden + outputs), hidden
        self.on_devices = {"W1", "W2"}

    def drive(self, c, s):
        """What the cosines and sines of all phases do to each of them, as two fields."""
        w1, w2, h, x = self.parameters["W1"], self.parameters["W2"], self.split, np.pi * self.input
        return (np.hstack([np.cos(x) @ w1 + c[:, h:] @ w2.T, c[:, :h] @ w2]) + self.parameters["b"],
                np.hstack([np.sin(x) @ w1 + s[:, h:] @ w2.T, s[:, :h] @ w2]))

    def force(self, z):
        c, s = np.cos(z), np.sin(z)
        along, across = self.drive(c, s)
        return c * across - s * along

    def jvp(self, z, v):
        c, s, w2, h = np.cos(z), np.sin(z), self.parameters["W2"], self.split
        along, across = self.drive(c, s)
        moved = [np.hstack([m[:, h:] @ w2.T, m[:, :h] @ w2]) for m in (-s * v, c * v)]
        return -(s * across + c * along) * v + c * moved[1] - s * moved[0]

    def energy_gradient(self, z):
        c, s, h, x = np.cos(z), np.sin(z), self.split, np.pi * self.input
        return {"W1": -np.cos(x).T @ c[:, :h] - np.sin(x).T @ s[:, :h], "W2": -c[:, :h].T @ c[:, h:] - s[:, :h].T @ s[:, h:],
                "b": -c.sum(0)}

    def energy(self, z):
        return sum(float(np.sum(self.parameters[name] * g)) for name, g in self.energy_gradient(z).items())

    def parameter_gradient(self, z, u):
        c, s, h, x = u * np.cos(z), -u * np.sin(z), self.split, np.pi * self.input
        return {"W1": np.sin(x).T @ c[:, :h] + np.cos(x).T @ s[:, :h],
                "W2": np.sin(z[:, :h]).T @ c[:, h:] + np.cos(z[:, :h]).T @ s[:, h:] + c[:, :h].T @ np.sin(z[:, h:]) + s[:, :h].T @ np.cos(z[:, h:]),
                "b": s.sum(0)}


class Angle(nudge.Cost):
    """1 − cos of the angle to the target: no phase is far from itself."""

    def value(self, y, target):
        return float(np.sum(1 - np.cos(y - target)))

    def gradient(self, y, target):
        return np.sin(y - target)


digits = {"task__kind": "classification", "task__references": "off", "data__validation_samples": 200, "train__batch": 16, "threads": 1}
network = Phases(64, 24, 10)

# %% [markdown]
# ## Checked
# One batch of the shipped digits: every estimator against the exact gradient, and central differences of the loss.

# %%
settled = {"relaxation__free_steps": 400, "relaxation__nudged_steps": 400, "relaxation__step": 0.2}
check = nudge.gradcheck(network, cost=Angle(), **digits, **settled, gradcheck__estimators=["ep", "ep_contrastive", "aep_transposed"])
print(check)

# %% [markdown]
# ## Trained on numbers and on devices
# The couplings become crossbars by one key. `train.null = all` trains beside it what learns without them: frozen devices, the read-out alone, and noise for a gradient.

# %%
training = {**digits, "relaxation__free_steps": 60, "relaxation__nudged_steps": 30, "relaxation__step": 0.2, "train__steps": 240,
            "train__learning_rate": 0.02, "train__evaluate_every": 40}
numbers = nudge.train(network, cost=Angle(), estimator="ep", beta=0.01, **training)
devices = nudge.train(network, cost=Angle(), estimator="ep", beta=0.2, **training, device__preset="ecram", hardware__level="ideal",
                      train__null="all")
for name, run in (("numbers", numbers), ("ecram", devices)):
    print(f"{name}: {100 * run.summary['test_accuracy']:.1f} % of held-out digits,", run.summary.get("null", {}).get("verdict", ""))
ax = nudge.plot.losses(numbers)
ax.plot(devices.train.step, devices.train.loss, lw=0.8, color=nudge.plot.COLORS[1], label="ecram")
ax.legend(frameon=False);

# %% [markdown]
# What to see: a physics that the program does not know trains by its trainer, with its log, checkpoints and devices. The published networks of oscillators reach more
# with more units and epochs; this one has 24 hidden phases and sees 3,840 digits.
#
# **Caveat.** The circuit around the devices is ideal here (`hardware.level = ideal`): what noise means at the node of an oscillator is not a voltage, and the
# program's physical level speaks of voltages.

# %%
assert all(check.cosine(name) > 1 - 1e-6 for name in ("ep", "aep_transposed", "finite_difference"))
assert numbers.summary["test_accuracy"] > 0.7 and devices.summary["test_accuracy"] > 0.6 and devices.summary["null"]["devices_learnt"]
