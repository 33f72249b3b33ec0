# SPDX-License-Identifier: Apache-2.0
"""Network of an energy whose first layer hangs on springs at the sample, and may move (docs/gallery/flow_matching.py)."""

import numpy as np

import nudge

X, H, V, spring = slice(0, 64), slice(64, 192), slice(192, 320), 1.0


class Springs(nudge.EnergyDynamics):
    """E = ½|z|² + ½ k |x − input|² − x W1 r − r W2 q − b·(x, r, q), rates r and q the tanh of both hidden layers."""

    def __init__(self, seed):
        draw = np.random.default_rng(seed).normal
        super().__init__(1, 320, {"W1": draw(size=(64, 128)) / 16, "W2": draw(size=(128, 128)) / 23, "b": np.zeros(320)})
        self.output = (0, 64)

    def rates(self, z):
        """Rates, their slopes, and the fields of all units."""
        s, slope, w = z.copy(), np.ones_like(z), np.zeros((320, 320))
        s[:, 64:] = np.tanh(z[:, 64:])
        slope[:, 64:] = 1 - s[:, 64:] ** 2
        w[X, H], w[H, V] = self.parameters["W1"], self.parameters["W2"]
        return s, slope, w + w.T

    def force(self, z):
        s, slope, w = self.rates(z)
        return slope * (s @ w + self.parameters["b"]) - z + np.pad(spring * (self.input - z[:, X]), ((0, 0), (0, 256)))

    def jvp(self, z, v):
        s, slope, w = self.rates(z)
        bend = np.where(np.arange(320) < 64, 0, -2 * s * slope) * (s @ w + self.parameters["b"])
        return slope * ((slope * v) @ w) + (bend - 1 - spring * (np.arange(320) < 64)) * v

    def energy(self, z):
        parts = sum(np.sum(self.parameters[name] * g) for name, g in self.energy_gradient(z).items())
        return float(0.5 * np.sum(z**2) + 0.5 * spring * np.sum((z[:, X] - self.input) ** 2) + parts)

    def energy_gradient(self, z):
        s = self.rates(z)[0]
        return {"W1": -s[:, X].T @ s[:, H], "W2": -s[:, H].T @ s[:, V], "b": -s.sum(0)}

    def parameter_gradient(self, z, u):
        s, slope, _ = self.rates(z)
        g = s.T @ (slope * u)
        return {"W1": g[X, H] + g[H, X].T, "W2": g[H, V] + g[V, H].T, "b": (slope * u).sum(0)}

    def flow(self, x, steps=40):
        """Pictures at t = 0, 1 and 2: Euler steps of 0.05 along the velocity k (x* − x), from x."""
        z = np.pad(x, ((0, 0), (0, 256)))
        for step in range(steps):
            self.input = z[:, X].copy()
            for _ in range(15):
                z = z + 0.35 * self.force(z)
            z[:, X] = self.input + 0.05 * spring * (z[:, X] - self.input)
            if step in (0, steps // 2 - 1, steps - 1):
                yield z[:, X].copy()
