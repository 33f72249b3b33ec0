# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A crossbar looked at
# What one device does under pulses, and what an array of them makes of a matrix.
#
# ## Three devices on a virtual prober
# A published preset, another one, and a device of your own: a dict of the keys of `[device]`.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nudge
import nudge.plot

mine = {"model": "soft_bounds", "update": "pulsed", "g_min": "1 uS", "g_max": "25 uS", "pulses": 60,
        "asymmetry": 0.4, "step_spread": "20 %", "upper_bound_spread": "10 %", "update_noise": 0.3,
        "read_noise": "0.5 %", "drift_exponent": 0.02}
subjects = {"ecram": "ecram", "reram_es": "reram_es", "mine": mine}
measured = {name: nudge.devices.characterize(device, devices=40, samples=256, cycles=3, points=60)
            for name, device in subjects.items()}

figure, panels = plt.subplots(1, 3, figsize=(9, 2.7), layout="constrained")
for ax, (name, run) in zip(panels, measured.items()):
    nudge.plot.staircase(run, ax=ax, devices=3)
    ax.set_title(name)
    ax.get_legend().remove()

# %%
print(nudge.devices.show("ecram")["summary"])

# %% [markdown]
# What to see: thin lines are single devices, the band is one standard deviation of the population. A staircase that rises fast and then creeps has soft
# bounds. Where the way down is not the mirror image of the way up, the device is asymmetric.
#
# ## Time and noise
# Conductance over the time since programming, and looks at devices in the middle of the window.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
nudge.plot.drift(measured["mine"], ax=left)
nudge.plot.read_noise(measured["mine"], ax=right);

# %% [markdown]
# ## An array
# A matrix with a pattern, programmed into pairs of devices of your own. Conductances, and how far the weights of a noise-free read are from those that were meant.

# %%
rows, columns = np.meshgrid(np.linspace(-1, 1, 48), np.linspace(-1, 1, 32), indexing="ij")
w = np.cos(5 * np.hypot(rows, columns))
array = nudge.Crossbar(w, device={**mine, "programming_error": "3 %"}, seed=7)

figure, panels = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
nudge.plot.array(array, ax=panels[0], title="conductance")
nudge.plot.array(array.weights - w, ax=panels[1], unit="1", title="weights less those that were meant")
error = np.linalg.norm(array.weights - w) / np.linalg.norm(w)
print(f"|W − meant|/|meant| = {error:.3f}")

# %% [markdown]
# ## Reads
# The same drive read a hundred times, and once both ways: `y = x W` drives the rows, `x = y Wᵀ` the columns of the same devices.

# %%
x = np.random.default_rng(0).normal(size=48)
reads = array.forward(np.tile(x, (100, 1)))
ideal = array.forward(x, noisy=False)
print(f"read noise, rms over rms of the output: {(reads - ideal).std() / ideal.std():.4f}")
y = np.random.default_rng(1).normal(size=32)


def adjoint(one):
    down = one.forward(x, noisy=False)
    return abs(down @ y - x @ one.transposed(y, noisy=False)) / (np.linalg.norm(down) * np.linalg.norm(y))


perfect = nudge.Crossbar(w, device={**mine, "programming_error": "3 %"}, seed=7, hardware__level="ideal")
print(f"|⟨x W, y⟩ − ⟨x, y Wᵀ⟩|, relative: {adjoint(array):.4f}; with ideal amplifiers: {adjoint(perfect):.0e}")

# %% [markdown]
# What to see: the two directions are the same devices, and other amplifiers. These differ by gains of 1 % and offsets of 0.1 mV (`hardware.level = mixed`, the
# default on devices): the way back is the transpose up to that.

# %% [markdown]
# ## Updates by pulses
# Ask for +0.02 and −0.02 in turn, two hundred times. Exact numbers would end where they began. Devices walk.

# %%
start, track = array.weights.copy(), []
for step in range(200):
    array.update(np.full(w.shape, 0.02 if step % 2 == 0 else -0.02))
    track.append(array.weights[::16, ::16].ravel().copy())
track = np.array(track)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.plot(track, linewidth=0.6)
left.set(xlabel="update", ylabel="some weights")
right.plot(start.ravel()[::4], (array.weights - start).ravel()[::4], ".", markersize=2,
           color=nudge.plot.COLORS[0], rasterized=True)
right.set(xlabel="weight before", ylabel="change after as many ups as downs")
print("pulses:", int(sum(one.sum() for one in array.pulses if one is not None)))

# %% [markdown]
# What to see: every weight walks towards the point where a pulse up and a pulse down cancel. Large weights lose most. Algorithms on devices live with
# that pull, or compensate it ([programming](../reference/update_rules.md)).
#
# **Caveat.** Wires have no resistance here, and converters no steps: `crossbar__row_resistance="1 Ohm"`, `circuit__dac_bits=6` and others
# put them in ([crossbars](../reference/crossbars.md)). A device model is a summary of what was measured, not physics.

# %%
assert 0.005 < error < 0.2
assert adjoint(perfect) < 1e-12 and 1e-4 < adjoint(array) < 0.02
assert np.corrcoef(start.ravel(), (array.weights - start).ravel())[0, 1] < -0.5
