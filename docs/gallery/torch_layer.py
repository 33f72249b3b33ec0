# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # An equilibrium as a layer of PyTorch
# `nudge.torch.Equilibrium` is a `torch.nn.Module`. Forward settles. Backward is *any* estimator, on simulated devices if the config has some.

# %%
import matplotlib.pyplot as plt
import torch

import nudge
import nudge.plot
import nudge.torch

torch.set_num_threads(1)
torch.manual_seed(0)
config = {"precision": "double", "threads": 1, "seed": 5,
          "model": {"channels": 8, "tokens": 5, "memories": 10, "heads": 2},
          "relaxation": {"free_steps": 150, "nudged_steps": 150}}
layer = nudge.torch.Equilibrium(config)
print({name: tuple(p.shape) for name, p in layer.named_parameters()})

# %% [markdown]
# ## Its gradient against autograd
# The same relaxation written in PyTorch, every step of it on the tape:
#
#     F(z) = x − z + 2 relu(z W_m) W_mᵀ + s (Attn(z) − c z),        z ← z + ε F(z)

# %%
settings = nudge.resolve(config)
s, heads, c = settings["model"]["attention_gain"], settings["model"]["heads"], layer.network.damping


def attention(z, p):
    width = z.shape[-1] // heads
    q, k, v = ((z @ p[name]).unflatten(-1, (heads, width)).transpose(-3, -2) for name in ("Wq", "Wk", "Wv"))
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return mixed.transpose(-3, -2).flatten(-2) @ p["Wo"]


def by_autograd(x, steps=150):
    p, z = dict(layer.named_parameters()), x
    for _ in range(steps):
        z = z + 0.3 * (x - z + 2 * torch.relu(z @ p["Wm"]) @ p["Wm"].T + s * (attention(z, p) - c * z))
    return z


x, weight = torch.randn(3, 5, 8, dtype=torch.float64), torch.randn(3, 5, 8, dtype=torch.float64)


def gradients(forward):
    layer.zero_grad()
    (weight * forward(x)).sum().backward()
    return torch.cat([p.grad.ravel() for p in layer.parameters()])


expected, errors = gradients(by_autograd), {}
for layer.estimator in ("implicit", "bptt", "dyadic", "aep_anchored", "aep_transposed", "ep"):
    found = gradients(layer)
    errors[layer.estimator] = float((found - expected).norm() / expected.norm())
    print(f"{layer.estimator:<15} |g − autograd| / |autograd| = {errors[layer.estimator]:.1e}")

# %% [markdown]
# What to see: every estimator but one agrees to 1e-7 and better. Plain `ep` does not: attention has no energy.
#
# ## Inside a model
# Linear → equilibrium → linear, trained by Adam on a made-up sequence task. Once with exact numbers, once on ECRAM devices, where a step of
# the optimizer is written as pulses and the parameter becomes what the devices took.

# %%
inputs = torch.randn(48, 5, 3)
outputs = torch.stack([inputs.cumsum(1)[..., 0].sin(), (inputs[..., 1] * inputs[..., 2]).tanh()], -1)


def train(steps=80, **overrides):
    torch.manual_seed(1)
    inner = nudge.torch.Equilibrium(config, estimator="aep_transposed", precision="float", relaxation__free_steps=40,
                                    relaxation__nudged_steps=40, **overrides)
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), inner, torch.nn.Linear(8, 2))
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=0.01), []
    for step in range(steps):
        some = torch.arange(16) + 16 * (step % 3)
        optimizer.zero_grad()
        loss = ((model(inputs[some]) - outputs[some]) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, inner


curves = {"exact numbers": train(), "ecram": train(device__preset="ecram")}
ax = plt.subplots(figsize=(6, 3), layout="constrained")[1]
for color, (name, (losses, _)) in zip(nudge.plot.COLORS, curves.items()):
    ax.semilogy(losses, color=color, label=name)
ax.set(xlabel="step of Adam", ylabel="squared error")
ax.legend(frameon=False)
print("pulses to W_m:", int(curves["ecram"][1].network.devices("Wm")["pulses"].sum()))

# %% [markdown]
# **Caveat.** The layer runs on the processor, one pass at a time, and backward settles again. The linear layers around it are exact numbers: nothing is
# said about them on hardware. That the curves lie close says that this small task is easy, too.

# %%
assert max(error for name, error in errors.items() if name != "ep") < 1e-4 < errors["ep"]
assert all(sum(losses[-6:]) < 0.7 * sum(losses[:6]) for losses, _ in curves.values())
