#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps: `nudge_bench` beside the same steps written in PyTorch, run live.

Block steps (B=32 T=64 C=128 M=512 H=4, T1=T2=30, float): the gradient of one batch by AEP, AEP transposed, linear adjoint and
backprop through the relaxation, the equations of docs/reference/estimators.md. Both nudged states advance side by side as one batch, the
projections are fused, Jacobian products are written out (no autograd but for bptt and the last correlation): what a careful
user would write. bptt is timed with torch's fused attention and with products written out; the faster one counts. Before
anything is timed the four gradients are compared with each other, so that a wrong script cannot be a fast one.

Characters steps: gradient and AdamW (fused) of two pre-norm blocks with rotary attention (characters) or the Free Energy Mixer
with softmax prior (characters_fem) and SwiGLU, as examples/characters.toml: the same 418,688 parameters, and 1280
biases and temperatures.

Rounds alternate nudge and PyTorch; of every round the ratio of medians, then the median and the range of the ratios. One and
two threads; with --device cuda PyTorch has a whole graphics processor instead. Above 1 nudge is faster.

    python3 bench/peers/torch_steps.py --build build/release
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time

import torch
import torch.nn.functional as functional

B, T, C, M, H, V, STEPS, EPS = 32, 64, 128, 512, 4, 65, 30, 0.35
GAIN = DAMPING = 1.0
BETA = {"aep": 1e-4, "aep_transposed": 1e-2}  # per token: nudge's defaults in float


class Block:
    """The founding note's block: F(z) = x - z + 2 relu(z Wm) Wm' + s (Attn(z) - c z)."""

    def __init__(self, seed=1):
        generator = torch.Generator(torch.get_default_device()).manual_seed(seed)

        def normal(rows, columns, deviation):
            return deviation * torch.randn(rows, columns, generator=generator)

        self.token, self.position = normal(V, C, 0.5), normal(T, C, 0.1)
        self.qkv, self.out = normal(C, 3 * C, C ** -0.5), normal(C, C, 0.3 * C ** -0.5)
        self.memory, self.head = normal(C, M, 0.3 / (C ** 0.5 + M ** 0.5)), normal(C, V, C ** -0.5)
        self.index = torch.randint(V, (B, T), generator=generator)
        self.target = torch.randint(V, (B, T), generator=generator)
        self.mask = torch.full((T, T), float("-inf")).triu(1)
        self.scale = (C // H) ** -0.5

    def parameters(self):
        return [self.token, self.position, self.qkv, self.out, self.memory, self.head]

    def heads(self, x):
        return x.view(x.shape[0], T, -1, C // H).transpose(1, 2)

    def joined(self, x):
        return x.transpose(1, 2).reshape(x.shape[0], T, -1)

    def attention(self, z, fused=False):
        q, k, v = self.heads(z @ self.qkv).split(H, dim=1)
        if fused:
            return self.joined(functional.scaled_dot_product_attention(q, k, v, is_causal=True)) @ self.out
        p = torch.softmax(torch.baddbmm(self.mask, q.reshape(-1, T, C // H), k.reshape(-1, T, C // H).transpose(1, 2),
                                        alpha=self.scale).view(z.shape[0], H, T, T), dim=-1)
        return self.joined(p @ v) @ self.out

    def feed(self, z):
        return 2 * torch.relu(z @ self.memory) @ self.memory.t()

    def force(self, x, z, fused=False):
        return x - (1 + GAIN * DAMPING) * z + self.feed(z) + GAIN * self.attention(z, fused)

    def input(self):
        return self.token[self.index] + self.position

    def relax(self, x, fused=False):
        z = x
        for _ in range(STEPS):
            z = z + EPS * self.force(x, z, fused)
        return z

    def cost_slope(self, z):
        """dC/dz of the mean over tokens, with its 1/(B T) taken out."""
        p = torch.softmax(z @ self.head, dim=-1)
        p.scatter_add_(-1, self.target.repeat(z.shape[0] // B, 1)[..., None], -torch.ones(z.shape[0], T, 1))
        return p @ self.head.t()

    def store(self, z):
        """What the point needs for Jacobian products of attention."""
        self.q, self.k, self.v = [h.contiguous() for h in self.heads(z @ self.qkv).split(H, dim=1)]
        self.p = torch.softmax(self.q @ self.k.transpose(2, 3) * self.scale + self.mask, dim=-1)

    def twice(self, x, n):
        return x if n == B else x.repeat(n // B, 1, 1, 1)

    def store_for(self, n):
        self.point = [self.twice(x, n) for x in (self.q, self.k, self.v, self.p)]

    def jvp(self, d):
        q, k, v, p = self.point
        dq, dk, dv = self.heads(d @ self.qkv).split(H, dim=1)
        slope = p * ((dq @ k.transpose(2, 3) + q @ dk.transpose(2, 3)) * self.scale)
        slope -= p * slope.sum(-1, keepdim=True)
        return self.joined(slope @ v + p @ dv) @ self.out.detach()

    def vjp(self, u):
        q, k, v, p = self.point
        do = self.heads(u @ self.out.t())
        slope = p * (do @ v.transpose(2, 3))
        slope -= p * slope.sum(-1, keepdim=True)
        back = torch.cat([slope @ k * self.scale, slope.transpose(2, 3) @ q * self.scale, p.transpose(2, 3) @ do], dim=1)
        return self.joined(back) @ self.qkv.t()

    def correlate(self, z, a):
        """<a, dF/dtheta> at z, and the read-out's own gradient; descending directions have the same sign as the loss's."""
        for w in self.parameters():
            w.requires_grad_(True)
            w.grad = None
        with torch.enable_grad():
            logits = z @ self.head
            loss = functional.cross_entropy(logits.reshape(-1, V), self.target.reshape(-1))
            ((a * self.force(self.input(), z)).sum() / (B * T) + loss).backward()
        for w in self.parameters():
            w.requires_grad_(False)
        return [w.grad for w in self.parameters()]

    def nudged(self, name):
        with torch.no_grad():
            x = self.input()
            star = self.relax(x)
            self.store(star)
            self.store_for(2 * B)
            beta = BETA[name]
            sign = beta * torch.cat([torch.ones(B, 1, 1), -torch.ones(B, 1, 1)])
            stars, both = star.repeat(2, 1, 1), x.repeat(2, 1, 1)
            z = stars.clone()
            rest = self.feed(stars)
            for _ in range(STEPS):
                d = z - stars
                if name == "aep":
                    f = self.force(both, z) - GAIN * (self.jvp(d) - self.vjp(d))
                else:
                    f = -(1 + GAIN * DAMPING) * d + self.feed(z) - rest + GAIN * self.vjp(d)
                z = z + EPS * (f - sign * self.cost_slope(z))
            return self.correlate(star, (z[B:] - z[:B]) / (2 * beta))

    def linear_adjoint(self):
        with torch.no_grad():
            x = self.input()
            star = self.relax(x)
            self.store(star)
            self.store_for(B)
            gate = (star @ self.memory > 0).float() * 2
            slope = self.cost_slope(star)
            a = torch.zeros_like(star)
            for _ in range(STEPS):
                back = ((a @ self.memory) * gate) @ self.memory.t() - (1 + GAIN * DAMPING) * a + GAIN * self.vjp(a)
                a = a + EPS * (back + slope)
            return self.correlate(star, a)

    def bptt(self, fused):
        for w in self.parameters():
            w.requires_grad_(True)
            w.grad = None
        x = self.input()
        loss = functional.cross_entropy((self.relax(x, fused) @ self.head).reshape(-1, V), self.target.reshape(-1))
        loss.backward()
        for w in self.parameters():
            w.requires_grad_(False)
        return [w.grad for w in self.parameters()]

    def steps(self):
        return {"aep": lambda: self.nudged("aep"), "aep_transposed": lambda: self.nudged("aep_transposed"),
                "linear_adjoint": self.linear_adjoint, "bptt": lambda: self.bptt(True), "bptt, written out": lambda: self.bptt(False)}


def rotated(y, cosine, sine):
    even, odd = y.chunk(2, dim=-1)
    return torch.cat([even * cosine - odd * sine, even * sine + odd * cosine], dim=-1)


class Attention(torch.nn.Module):
    """Causal softmax attention with rotary positions, by PyTorch's fused kernel."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(C, 3 * C, bias=False), torch.nn.Linear(C, C, bias=False)

    def forward(self, x, rotation):
        q, k, v = self.qkv(x).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(rotated(q, *rotation), rotated(k, *rotation), v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(B, T, C))


class FreeEnergyMixer(torch.nn.Module):
    """The Free Energy Mixer with the softmax prior: y = (g ((1 - l) mean + l F)) W_o with F = log(P exp(beta v)) / beta, half as many
    values as channels. The five projections are one product, mean and exponential are read by one product too."""

    VALUES = C // 2

    def __init__(self):
        super().__init__()
        self.project, self.out = torch.nn.Linear(C, 2 * C + 3 * self.VALUES), torch.nn.Linear(self.VALUES, C)
        self.beta = torch.nn.Parameter(torch.zeros(self.VALUES))
        self.register_buffer("future", torch.full((T, T), float("-inf")).triu(1), persistent=False)

    def reads(self, p, v):
        """Mean and free energy of every head, (B, H, T, values of a head) each."""
        beta = functional.softplus(self.beta + 1.8).view(H, 1, -1)
        scaled = beta * v
        most = scaled.detach().amax(dim=-2, keepdim=True)
        mean, total = (p @ torch.cat([v, (scaled - most).exp()], dim=-1)).chunk(2, dim=-1)
        return mean, (total.log() + most) / beta

    def probabilities(self, q, k, rotation):
        scores = rotated(q, *rotation) @ rotated(k, *rotation).transpose(-1, -2) * (C // H) ** -0.5
        return (scores + self.future).softmax(dim=-1)

    def heads(self, x):
        return x.view(B, T, H, -1).transpose(1, 2)

    def forward(self, x, rotation):
        q, k, v, inner, outer = self.project(x).split([C, C] + 3 * [self.VALUES], dim=-1)
        mean, free = self.reads(self.probabilities(self.heads(q), self.heads(k), rotation), self.heads(v))
        gate = functional.rms_norm(functional.softplus(self.heads(outer)), (self.VALUES // H,), eps=1e-6)
        read = gate * torch.lerp(mean, free, self.heads(inner).sigmoid())
        return self.out(read.transpose(1, 2).reshape(B, T, self.VALUES))

    def check(self, rotation):
        """The free energies by one product are log-sum-exp of every entry."""
        with torch.no_grad():
            q, k = torch.randn(2, B, H, T, C // H)
            v = torch.randn(B, H, T, self.VALUES // H)
            p = self.probabilities(q, k, rotation)
            beta = functional.softplus(self.beta + 1.8).view(1, H, 1, 1, -1)
            exact = (p[..., None].log() + beta * v[:, :, None]).logsumexp(dim=-2) / beta[:, :, 0]
            error = (self.reads(p, v)[1] - exact).abs().max().item()
            if not error < 1e-4:
                raise SystemExit(f"torch_steps.py: the free energy read is wrong by {error}")


class Characters(torch.nn.Module):
    """Two pre-norm blocks: RMSNorm, a mixer with rotary positions, SwiGLU."""

    class Layer(torch.nn.Module):
        def __init__(self, mixer):
            super().__init__()
            self.norms = torch.nn.ModuleList([torch.nn.RMSNorm(C), torch.nn.RMSNorm(C)])
            self.mixer = mixer()
            self.up, self.down = torch.nn.Linear(C, 2 * 352, bias=False), torch.nn.Linear(352, C, bias=False)

        def forward(self, x, rotation):
            x = x + self.mixer(self.norms[0](x), rotation)
            gate, value = self.up(self.norms[1](x)).chunk(2, dim=-1)
            return x + self.down(functional.silu(gate) * value)

    def __init__(self, mixer):
        super().__init__()
        torch.manual_seed(1)
        self.embedding = torch.nn.Embedding(V, C)
        self.layers = torch.nn.ModuleList([self.Layer(mixer), self.Layer(mixer)])
        self.norm, self.head = torch.nn.RMSNorm(C), torch.nn.Linear(C, V, bias=False)
        angle = torch.arange(T)[:, None] * 10000.0 ** (-torch.arange(0, C // H, 2) / (C // H))
        self.rotation = (angle.cos(), angle.sin())
        self.optimizer = torch.optim.AdamW(self.parameters(), lr=2e-3, weight_decay=0.1, fused=True)
        self.index, self.target = torch.randint(V, (B, T)), torch.randint(V, (B, T))

    def step(self):
        x = self.embedding(self.index)
        for layer in self.layers:
            x = layer(x, self.rotation)
        loss = functional.cross_entropy(self.head(self.norm(x)).view(-1, V), self.target.view(-1))
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        self.optimizer.step()


def cosine(a, b):
    a, b = torch.cat([x.flatten() for x in a]).double(), torch.cat([x.flatten() for x in b]).double()
    return float(a @ b / (a.norm() * b.norm()))


def check(block):
    """The estimators agree with backprop where the relaxation has settled; as far as float and beta allow."""
    reference = block.bptt(False)
    for name, least in (("linear_adjoint", 0.999), ("aep_transposed", 0.995), ("aep", 0.98), ("bptt", 0.9999)):
        found = cosine(block.steps()[name](), reference)
        print(f"  gradient of {name} against backprop written out: cosine {found:.5f}")
        if not found > least:
            raise SystemExit(f"torch_steps.py: {name} is wrong: cosine {found} (must be > {least})")


def seconds(step, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        step()
        if torch.get_default_device().type == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def nudge_seconds(program, case):
    out = subprocess.run([program, f"--benchmark_filter=^{case}", "--benchmark_format=json"], check=True, capture_output=True, text=True)
    found = json.loads(out.stdout)["benchmarks"]
    if not found:
        raise SystemExit(f"torch_steps.py: {program} has no case {case}")
    unit = {"ms": 1e-3, "us": 1e-6, "s": 1.0, "ns": 1e-9}
    return statistics.median(one["real_time"] * unit[one["time_unit"]] for one in found), statistics.median(one.get("ratio", float("nan")) for one in found)


NAMES = ["aep", "aep_transposed", "linear_adjoint", "bptt", "characters", "characters_fem"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build folder of nudge")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3, help="PyTorch steps of a round")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--steps", nargs="+", default=NAMES, choices=NAMES, help="which rows")
    parser.add_argument("--device", default="cpu", help="where PyTorch works: cpu or cuda (float there too, no TF32)")
    options = parser.parse_args()
    torch.set_default_device(options.device)
    folder = pathlib.Path(options.build) / "bench"
    block, characters, mixers = Block(), Characters(Attention), Characters(FreeEnergyMixer)
    for model, count in ((characters, 418688), (mixers, 418688 + 2 * 640)):  # those of the benchmark; 640 biases per mixer
        assert sum(p.numel() for p in model.parameters()) == count
    torch.set_num_threads(max(options.threads))
    check(block)
    mixers.layers[0].mixer.check(mixers.rotation)
    steps = dict(block.steps(), characters=characters.step, characters_fem=mixers.step)
    token_models = {"characters": "mha", "characters_fem": "fem_softmax_ltg"}
    print("| step | threads | nudge (ms) | PyTorch (ms) | PyTorch/nudge | range | ratio to the floor |\n|---|---|---|---|---|---|---|")
    for threads in options.threads:
        torch.set_num_threads(threads)
        for name in options.steps:
            program, case = (folder / "nudge_bench", f"{name}/B32_T64_C128_M512/threads{threads}")
            if name in token_models:
                program, case = (folder / "nudge_bench_mixers", f"characters_step/{token_models[name]}/threads{threads}")
            peers = [name] + [other for other in steps if other.startswith(name + ",")]
            for peer in peers:
                steps[peer]()  # warm
            rounds = []
            for _ in range(options.rounds):
                mine, floor = nudge_seconds(str(program), case)
                theirs = min(seconds(steps[peer], options.repeats) for peer in peers)
                rounds.append((theirs / mine, mine, theirs, floor))
            ratios = sorted(r[0] for r in rounds)
            middle = [statistics.median(r[k] for r in rounds) for k in range(4)]
            print(f"| {name} | {threads} | {1e3 * middle[1]:.1f} | {1e3 * middle[2]:.1f} | {middle[0]:.2f} | "
                  f"{ratios[0]:.2f}–{ratios[-1]:.2f} | {middle[3]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
