# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A resistor graph that learns by being clamped
# Coupled learning on memristors, one device an edge: the network, the learning rule and the task in sixty lines.
#
# A graph of resistors divides voltages. Its power is an energy, and currents follow its gradient:
#
#     E = ½ Σ_e g_e (v_i − v_j)² + ½ c Σ_k (v_k − x_k)²,        ∂E/∂g_e = ½ (v_i − v_j)²
#
# Each conductance can see the drop across itself, and nothing else. Coupled learning (Stern, Hexner, Rocks, Liu, PRX 11, 021045 (2021)) compares two states:
# the free one, and one whose outputs are *clamped* a little nearer to what they should be.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nudge
import nudge.plot


class Graph(nudge.EnergyDynamics):
    conductances = ("g",)                                      # never below 0; on devices, one device each
    source, output = 4.0, (14, 16)

    def __init__(self, edges, nodes):
        super().__init__(1, nodes, {"g": np.random.default_rng(2).uniform(0.2, 1, len(edges))})
        self.incidence = np.zeros((len(edges), nodes))
        for e, (i, j) in enumerate(edges):
            self.incidence[e, [i, j]] = 1, -1

    def jvp(self, z, v):
        f, n = -(v @ self.incidence.T * self.parameters["g"]) @ self.incidence, self.input.shape[1]
        f[:, :n] -= self.source * v[:, :n]
        return f

    def force(self, z):
        f = self.jvp(z, z)                                     # linear, but for the sources
        f[:, :self.input.shape[1]] += self.source * self.input
        return f

    def energy(self, z):                                       # the power, and that of the sources
        return float(0.5 * np.sum(self.parameters["g"] * (z @ self.incidence.T) ** 2)
                     + 0.5 * self.source * np.sum((z[:, :self.input.shape[1]] - self.input) ** 2))

    def energy_gradient(self, z):
        return {"g": 0.5 * np.sum((z @ self.incidence.T) ** 2, axis=0)}

    def parameter_gradient(self, z, u):
        return {"g": -np.sum((z @ self.incidence.T) * (u @ self.incidence.T), axis=0)}


class CoupledLearning(nudge.Estimator):
    """Outputs held at v + η (v* − v), and the difference of the powers by η."""

    beta = 0.1                                                 # η, what `beta = auto` is

    def estimate(self, example):
        out, start = example.output, example.state.copy()
        start[:, out] -= example.beta * example.cost_gradient(start)[:, out]

        def held(z):
            f = example.force(z)
            f[:, out] = 0
            return f

        example.energy_gradient(example.relax(held, start), 1 / example.beta)
        example.energy_gradient(example.state, -1 / example.beta)


rng = np.random.default_rng(5)
edges = [(i, j) for i in range(16) for j in range(i + 1, 16) if rng.random() < 0.35]
x = rng.uniform(-1, 1, (2000, 4))
y = x @ [[0.5, 0.1], [0.2, 0.2], [0.1, 0.4], [0.1, 0.2]]       # two weighted means, which a divider can make
graph = Graph(edges, 16)
settle = {"relaxation__step": 0.08, "relaxation__free_steps": 200, "relaxation__nudged_steps": 200, "threads": 1}
task = {"data__scaling": "none", "data__validation_samples": 160, "task__references": "off", "train__batch": 16}

# %% [markdown]
# ## How far is the rule from the gradient?
# Not near, even for a small η: to hold outputs is another experiment than to pull at them.

# %%
long = {**settle, "relaxation__free_steps": 3000, "relaxation__nudged_steps": 3000}
cosines = {}
for eta in (1e-3, 0.1, 1.0):
    check = nudge.gradcheck(graph, (x, y), estimator=CoupledLearning(), beta=eta, gradcheck__estimators=["own", "ep"], **long, **task)
    cosines[eta] = check.cosine("own")
    print(f"eta = {eta:g}: cosine {cosines[eta]:.4f};   ep: {check.cosine('ep'):.6f}")

# %% [markdown]
# ## It trains, on numbers and on devices
# `device.preset` makes every edge one device, whose reads have its noise and whose steps are pulses.

# %%
training = {**settle, **task, "train__steps": 300, "train__learning_rate": 0.02, "train__evaluate_every": 50}
kinds = {"coupled learning": {"estimator": CoupledLearning()}, "ep": {"estimator": "ep"},
         "coupled learning, ecram": {"estimator": CoupledLearning(), "device__preset": "ecram", "hardware__level": "ideal",
                                     "train__null": "all"}}
runs = {name: nudge.train(graph, (x, y), **kind, **training) for name, kind in kinds.items()}
ax = plt.subplots(figsize=(6, 3), layout="constrained")[1]
for name, run in runs.items():
    run.train.loss.rolling(step=15, min_periods=1).mean().plot(ax=ax, x="step", yscale="log", label=f"{name}: {run.summary['test_loss']:.2e}")
ax.legend(frameon=False, title="test loss");

# %% [markdown]
# What to see: a rule that is not the gradient still descends, since its two states differ where the error is. On devices the loss stops where noise and pulses stop it;
# `run.summary["null"]` says what its nulls have.

# %%
assert 0.5 < cosines[1e-3] < 0.999
assert runs["ep"].summary["test_loss"] < 0.1 * float(runs["ep"].train.loss[0])
assert runs["coupled learning"].summary["test_loss"] < 0.2 * float(runs["coupled learning"].train.loss[0])
assert runs["coupled learning, ecram"].summary["null"]["devices_learnt"]
