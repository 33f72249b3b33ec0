# SPDX-License-Identifier: Apache-2.0
"""nudge.torch: the layer against autograd through the same network in PyTorch, and training with it."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing of nudge.torch is tested")

import nudge  # noqa: E402
import nudge.torch  # noqa: E402

CONFIG = {
    "precision": "double", "threads": 1, "seed": 5,
    "model": {"channels": 8, "tokens": 5, "memories": 10, "heads": 2},
    "relaxation": {"free_steps": 250, "nudged_steps": 250},
}


def softmax_attention(z, parameters, heads):
    """What the block adds: heads of softmax attention over the tokens up to each, as docs/reference/networks.md has it."""
    rows, cols = z.shape[-2:]
    width = cols // heads
    q, k, v = (z @ parameters[name] for name in ("Wq", "Wk", "Wv"))
    split = [one.reshape(*one.shape[:-1], heads, width).transpose(-3, -2) for one in (q, k, v)]
    scores = split[0] @ split[1].transpose(-1, -2) / width ** 0.5
    mask = torch.ones(rows, rows, dtype=torch.bool).tril()
    mixed = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1) @ split[2]
    return mixed.transpose(-3, -2).reshape(z.shape) @ parameters["Wo"]


def force(z, x, parameters, s, c, heads):
    """F = x − z + 2 relu(z W_m) W_mᵀ + s (Attn(z) − c z)."""
    memory = 2 * torch.relu(z @ parameters["Wm"]) @ parameters["Wm"].T
    return x - z + memory + s * (softmax_attention(z, parameters, heads) - c * z)


def reference(layer, x, steps=250):
    """The equilibrium by PyTorch alone, every step of it on autograd's tape."""
    config = nudge.resolve(CONFIG)
    s, c, heads = config["model"]["attention_gain"], layer.network.damping, config["model"]["heads"]
    parameters = dict(layer.named_parameters())
    z = x
    for _ in range(steps):
        z = z + 0.3 * force(z, x, parameters, s, c, heads)
    return z


@pytest.fixture
def layer():
    return nudge.torch.Equilibrium(CONFIG, estimator="implicit")


def relative(found, expected):
    return float((found - expected).detach().norm() / expected.detach().norm())


@pytest.mark.parametrize("estimator", ["implicit", "aep_anchored", "aep_transposed", "dyadic", "bptt"])
def test_gradients_against_autograd(layer, estimator):
    torch.manual_seed(0)
    layer.estimator = estimator
    x = torch.randn(3, 5, 8, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(3, 5, 8, dtype=torch.float64)
    expected_z = reference(layer, x)
    (weight * expected_z).sum().backward()
    expected = {name: p.grad.clone() for name, p in layer.named_parameters()}
    expected_x = x.grad.clone()
    layer.zero_grad()
    x.grad = None
    z = layer(x)
    assert relative(z, expected_z) < 1e-9
    (weight * z).sum().backward()
    # The layer's promise is 1e-4: a nudge of 1e-5 is wrong by its square and by rounding/1e-5.
    assert relative(x.grad, expected_x) < 1e-4
    for name, gradient in expected.items():
        assert relative(layer.get_parameter(name).grad, gradient) < 1e-4, name


def test_it_trains_inside_a_model():
    torch.manual_seed(1)
    layer = nudge.torch.Equilibrium(CONFIG, estimator="aep_transposed", precision="float", relaxation__free_steps=40,
                                    relaxation__nudged_steps=40)
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), layer, torch.nn.Linear(8, 2))
    x = torch.randn(16, 5, 3)
    y = torch.stack([x.cumsum(1)[..., 0].sin(), (x[..., 1] * x[..., 2]).tanh()], -1)
    before = {name: p.detach().clone() for name, p in layer.named_parameters()}
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]
    assert all(not torch.equal(before[name], p) for name, p in layer.named_parameters())


def test_on_devices_the_optimizer_writes_pulses():
    layer = nudge.torch.Equilibrium(CONFIG, estimator="aep_transposed", precision="float", device__model="soft_bounds",
                                    device__pulses=500, relaxation__free_steps=40, relaxation__nudged_steps=40)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.05)
    x = torch.randn(2, 5, 8)
    pulses = layer.network.devices("Wm")["pulses"].sum()
    asked = {}
    for _ in range(3):
        optimizer.zero_grad()
        (layer(x) ** 2).mean().backward()
        optimizer.step()
        asked = {name: p.detach().clone() for name, p in layer.named_parameters()}
    with torch.no_grad():
        layer(x)
    assert layer.network.devices("Wm")["pulses"].sum() > pulses
    held = dict(layer.named_parameters())
    assert not torch.equal(asked["Wm"], held["Wm"])  # devices took what they could
    assert torch.equal(held["Wm"], torch.from_numpy(np.array(layer.network.parameters["Wm"])))


def test_weights_changed_between_passes_are_noticed(layer):
    x = torch.randn(1, 5, 8, dtype=torch.float64)
    z = layer(x)
    with torch.no_grad():
        layer.get_parameter("Wm").mul_(0.5)
    layer(x)
    with pytest.raises(RuntimeError, match="written between"):
        z.sum().backward()


def test_state_dict_of_a_network(layer):
    other = nudge.torch.Equilibrium(CONFIG, seed=77)
    other.load_state_dict(layer.state_dict())
    x = torch.randn(1, 5, 8, dtype=torch.float64)
    assert torch.equal(other(x), layer(x))
    net = nudge.Network(CONFIG)
    net.load_state_dict(layer.state_dict(), strict=False)
    assert np.array_equal(net.parameters["Wq"], layer.get_parameter("Wq").detach().numpy())


def test_a_force_of_torch_functions():
    torch.manual_seed(2)
    w, b = 0.3 * torch.randn(6, 6, dtype=torch.float64), torch.randn(3, 6, dtype=torch.float64)
    system = nudge.torch.dynamics(lambda z, p: p["b"] + torch.tanh(z) @ p["w"] - z, {"w": w, "b": b}, (3, 6))
    target = torch.randn(3, 6, dtype=torch.float64)
    cost = nudge.torch.cost(lambda z: 0.5 * ((z - target) ** 2).sum())
    gradient, _ = nudge.estimate(system, cost, estimator="aep_anchored", free_steps=300, nudged_steps=300)
    w.requires_grad_()
    z = torch.zeros(3, 6, dtype=torch.float64)
    for _ in range(300):
        z = z + 0.3 * (b + torch.tanh(z) @ w - z)
    (0.5 * ((z - target) ** 2).sum()).backward()
    assert relative(torch.from_numpy(gradient["w"]), w.grad) < 1e-6


def test_an_energy_of_torch_functions():
    torch.manual_seed(3)
    w = 0.2 * torch.randn(4, 4, dtype=torch.float64)
    system = nudge.torch.energy(lambda z, p: 0.5 * (z ** 2).sum() - torch.log(torch.cosh(z @ p["w"])).sum() - z.sum(),
                                {"w": w}, (2, 4))
    cost = nudge.SquaredError(np.zeros((2, 4)))
    plain, _ = nudge.estimate(system, cost, estimator="ep", free_steps=300, nudged_steps=300)
    exact, _ = nudge.estimate(system, cost, estimator="implicit_dense", free_steps=300)
    assert relative(torch.from_numpy(plain["w"]), torch.from_numpy(exact["w"])) < 1e-6
