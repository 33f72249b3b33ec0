#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Epochs of equilibrium propagation: `nudge train` beside the PyTorch project of the fast resistive networks, run live.

Peer: energy-based-learning of Rain Neuromorphics (Scellier 2024, arXiv 2402.11674), driven from here: its networks, its
minimisers, its estimator (centered) and torch.optim.SGD, batches in memory as tensors. Left out, in its favour: its data
loader, its statistics, its logs. nudge runs as a user would run it, with its log, checks and run file: processor time of a
run of STEPS + n steps less that of one of STEPS, so that start, files and reference models do not count.

Same work for both: every phase (free, +beta, -beta) takes the peer's number of sweeps and the settings are those of its
scripts, but for the width of the Hopfield network (512; there 1024) and the convolutional one, which the peer's edges are put together to
(16 and 32 maps of padded 3 x 3 kernels; its own has 5 x 5 without a border, which nudge has not). float, one thread each. Rounds alternate all contestants;
of every round a ratio, the median of the ratios is printed. Pictures are synthetic (28 x 28, ten noisy prototypes): `--samples`
of them, eight times as many with nudge, are timed and scaled to an epoch of 60,000.

Test error: both learn the same part of the 1797 digits of 8 x 8 pixels (of `--digits`, the file that nudge ships) for 8
epochs with equal settings, and are tested on the same other part; the mean over seeds and its deviation.

    python3 bench/peers/rain_epoch.py --source energy-based-learning --nudge build/release/apps/nudge
"""
import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before numpy and torch read them

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

EPOCH = 60000
STEPS = 20  # of the run that is subtracted
MORE = 8    # times as many steps of nudge are timed, so that they are long beside what is subtracted
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Sweeps of a phase, nudge and rate of the peer's scripts of these networks (drn-xs, dhn-1h); the batches timed.
NETWORKS = {
    "resistive": {"hidden": 100, "sweeps": 4, "beta": 1.0, "gain": 100.0, "rate": 0.006, "batches": (4, 64)},
    "hopfield": {"hidden": 512, "sweeps": 15, "beta": 0.2, "gain": 0.7, "rate": 0.05, "batches": (16, 64)},
    "convolutional": {"maps": (16, 32), "sweeps": 15, "beta": 0.2, "gain": 0.6, "rate": 0.05, "batches": (16, 64)},
}
# On the digits: smaller pictures, so a smaller gain in front of the resistors; epochs and batch of the comparison.
DIGITS = {"resistive": {"hidden": 100, "gain": 20.0, "rate": 0.006}, "hopfield": {"hidden": 128, "rate": 0.05}}
EPOCHS, BATCH, SEEDS, TEST_SHARE = 8, 4, (1, 2, 3), 0.2


def prototypes(samples, seed=1):
    """(features (samples, 784) in [0, 1], labels): ten smooth pictures, each pixel with noise, a fifth of them lit."""
    random = np.random.default_rng(seed)
    coarse = random.uniform(size=(10, 7, 7)).repeat(4, axis=1).repeat(4, axis=2).reshape(10, 784)
    base = np.where(coarse > 0.8, coarse, 0.0)
    labels = np.arange(samples) % 10
    noisy = base[labels] + 0.2 * random.standard_normal((samples, 784)) * (random.uniform(size=(samples, 784)) > 0.5)
    return np.clip(noisy, 0, 1).astype(np.float32), labels.astype(np.int64)


class Peer:
    """One network of the peer, trained batch by batch."""

    def __init__(self, kind, side, settings, seed):
        from model.function.cost import SquaredError
        from model.function.network import Network
        from training.sgd import AugmentedFunction, EquilibriumProp
        torch.manual_seed(seed)
        if kind == "convolutional":
            from model.hopfield.minimizer import FixedPointMinimizer as Minimizer
            energy = self.convolutional(side, settings)
        elif kind == "resistive":
            from model.resistive.minimizer import QuadraticMinimizer as Minimizer
            from model.resistive.network import DeepResistiveEnergy
            energy = DeepResistiveEnergy([(2, side, side), (settings["hidden"],), (10,)], [1.0, 1.0], settings["gain"])
        else:
            from model.hopfield.minimizer import FixedPointMinimizer as Minimizer
            from model.hopfield.network import DeepHopfieldEnergy
            energy = DeepHopfieldEnergy([(1, side, side), (settings["hidden"],), (10,)], [settings["gain"]] * 2)
        energy.set_device("cpu")
        self.cost = SquaredError(energy.layers()[-1])
        self.network, self.output = Network(energy), energy.layers()[-1]
        augmented = AugmentedFunction(energy, self.cost)
        nudged = Minimizer(augmented, self.network.free_layers())
        self.free = Minimizer(energy, self.network.free_layers())
        self.estimator = EquilibriumProp(energy.params(), energy.layers(), augmented, self.cost, nudged)
        self.estimator.nudging, self.estimator.variant = settings["beta"], "centered"
        for minimizer in (nudged, self.free):
            minimizer.num_iterations, minimizer.mode = settings["sweeps"], "asynchronous"
        self.parameters = energy.params()
        self.optimizer = torch.optim.SGD([p.state for p in self.parameters], lr=settings["rate"])

    @staticmethod
    def convolutional(side, settings):
        """The peer's edges in a network of two layers of 3 x 3 kernels, padded, each with 2 x 2 mean pooling, and a dense read-out."""
        from model.function.interaction import SumSeparableFunction
        from model.hopfield.network import create_edge, create_layer
        first, second = settings["maps"]
        shapes = [(1, side, side), (first, side // 2, side // 2), (second, side // 4, side // 4), (10,)]
        layers = [create_layer(shape, kind) for shape, kind in zip(shapes, ["input", "hard-sigmoid", "hard-sigmoid", "linear"])]
        made = [create_edge(layers, "bias", [k], 0.0, (shapes[k][0],)) for k in (1, 2, 3)]
        made += [create_edge(layers, "conv_avg_pool", [0, 1], settings["gain"], (first, 1, 3, 3), 1),
                 create_edge(layers, "conv_avg_pool", [1, 2], settings["gain"], (second, first, 3, 3), 1),
                 create_edge(layers, "dense", [2, 3], settings["gain"])]
        return SumSeparableFunction(layers, [param for param, _ in made], [interaction for _, interaction in made])

    def step(self, x, y):
        self.network.set_input(x, reset=False)
        self.free.compute_equilibrium()
        self.cost.set_target(y)
        for parameter, gradient in zip(self.parameters, self.estimator.compute_gradient()):
            parameter.state.grad = gradient
        self.optimizer.step()
        for parameter in self.parameters:
            parameter.clamp_()

    def error(self, x, y):
        self.network.set_input(x, reset=True)
        self.free.compute_equilibrium()
        return float((self.output.state.argmax(dim=1) != y).float().mean())


def config(kind, settings, batch, steps, data, seed):
    """Settings of nudge for the same training."""
    sweeps = settings["sweeps"]
    lines = ["task.kind=classification", f"network.kind={kind}", "precision=float",
             "threads=1", f"seed={seed}", "estimator=ep_contrastive", f"beta={settings['beta']}",
             f"relaxation.free_steps={sweeps}", f"relaxation.nudged_steps={sweeps}", "train.optimizer=sgd", "train.momentum=0",
             f"train.learning_rate={settings['rate']}", "train.schedule=constant", "train.warmup=0", "train.gradient_clip=0",
             "train.evaluate_every=0", "train.checkpoint_every=0", f"train.batch={batch}", f"train.steps={steps}",
             f"data.side_by_side={batch}"] + [f"data.{key}={value}" for key, value in data.items()]
    if kind == "convolutional":
        return lines + ["hopfield.hidden=[]", f"convolutional.maps={list(settings['maps'])}", "convolutional.kernel=[3]", "convolutional.pool=[2]",
                        f"hopfield.gain={settings['gain']}", "relaxation.schedule=sweep", "relaxation.step=1"]
    lines.append(f"{kind}.hidden=[{settings['hidden']}]")
    if kind == "resistive":
        return lines + ["relaxation.solver=coordinate", f"resistive.gain=[{settings['gain']}]"]
    # Uniform within the peer's gain/√fan_in: Glorot's bound with the gain of the first layer (nudge has one gain for all).
    fan_in, fan_out = settings["inputs"], settings["hidden"]
    gain = settings["gain"] * ((fan_in + fan_out) / (6 * fan_in)) ** 0.5
    return lines + [f"hopfield.gain={gain:.6g}", "relaxation.schedule=sweep", "relaxation.step=1"]


def train(program, folder, settings):
    """Trains; returns (processor seconds, what `nudge train --json` says)."""
    empty = folder / "empty.toml"
    empty.write_text("")
    out = folder / "run.h5"
    out.unlink(missing_ok=True)
    words = [str(program), "train", str(empty), "--out", str(out), "--json"] + [w for s in settings for w in ("--set", s)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{done.stderr}{' '.join(words)}: exit {done.returncode}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, json.loads(done.stdout)


def peer_seconds(peer, x, y, batch, steps):
    batches = len(y) // batch
    begin = time.process_time()
    for n in range(steps):
        at = (n % batches) * batch
        peer.step(x[at:at + batch], y[at:at + batch])
    return time.process_time() - begin


def title(kind):
    if kind == "convolutional":
        return "convolutional 1 x 28 x 28 - 16 x 14 x 14 - 32 x 7 x 7 - 10, kernels 3 x 3"
    return f"{kind} {1568 if kind == 'resistive' else 784}-{NETWORKS[kind]['hidden']}-10"


def timings(program, folder, samples, rounds, kinds):
    x, y = prototypes(1280)
    np.savez(folder / "pictures.npz", features=x.reshape(-1, 28, 28), labels=y)
    data = {"file": folder / "pictures.npz", "validation_fraction": 0.1, "test_fraction": 0, "scaling": "none"}
    pictures, labels = torch.from_numpy(x).reshape(-1, 1, 28, 28), torch.from_numpy(y)
    cases = [(kind, batch) for kind in kinds for batch in NETWORKS[kind]["batches"]]
    peers = {case: Peer(case[0], 28, NETWORKS[case[0]], 1) for case in cases}
    seconds = {case: ([], []) for case in cases}
    for turn in range(rounds + 1):
        for case in cases:
            kind, batch = case
            steps, settings = samples // batch, dict(NETWORKS[kind], inputs=784)
            theirs = peer_seconds(peers[case], pictures, labels, batch, steps)
            run = lambda n: train(program, folder, config(kind, settings, batch, n, data, 1))[0]
            ours = (run(STEPS + MORE * steps) - run(STEPS)) / MORE
            if turn > 0:  # the first warms up
                for kept, value in zip(seconds[case], (theirs, ours)):
                    kept.append(value * EPOCH / (steps * batch))
    print("| network | batch | peer, s per epoch | nudge, s per epoch | times as fast | of the rounds |\n|---|---|---|---|---|---|")
    for kind, batch in cases:
        theirs, ours = seconds[kind, batch]
        ratios = sorted(a / b for a, b in zip(theirs, ours))
        print(f"| {title(kind)} | {batch} | {statistics.median(theirs):.1f} | "
              f"{statistics.median(ours):.1f} | {statistics.median(ratios):.1f} | {ratios[0]:.1f} … {ratios[-1]:.1f} |")


def errors(program, folder, digits):
    table = np.array([[float(v) for v in line.split(",")] for line in digits.read_text().splitlines()
                      if line[:1].isdigit()], dtype=np.float32)
    labels, x = table[:, 0].astype(np.int64), table[:, 1:] / 16
    if x.shape[1] != 64 or labels.max() > 9:
        sys.exit(f"{digits}: expected a label and 64 pixels in every line")
    order = np.random.default_rng(0).permutation(len(labels))
    test = order[:int(TEST_SHARE * len(order))]
    learn = order[len(test):]
    for name, part in (("learn", learn), ("test", test)):
        np.savez(folder / f"{name}.npz", features=x[part], labels=labels[part])
    data = {"file": folder / "learn.npz", "test_file": folder / "test.npz", "validation_fraction": 0.01, "scaling": "none"}
    steps = EPOCHS * len(learn) // BATCH
    tensor = lambda part: (torch.from_numpy(x[part]).reshape(-1, 1, 8, 8), torch.from_numpy(labels[part]))
    print(f"\n| network, {EPOCHS} epochs of {len(learn)} digits, batch {BATCH} | peer, test error | nudge, test error |\n|---|---|---|")
    for kind, changes in DIGITS.items():
        settings = dict(NETWORKS[kind], **changes, inputs=64)
        theirs, ours = [], []
        for seed in SEEDS:
            peer = Peer(kind, 8, settings, seed)
            random = np.random.default_rng(seed)
            for _ in range(EPOCHS):
                pictures, targets = tensor(random.permutation(learn))
                peer_seconds(peer, pictures, targets, BATCH, len(learn) // BATCH)
            theirs.append(100 * peer.error(*tensor(test)))
            answer = train(program, folder, config(kind, settings, BATCH, steps, data, seed))[1]
            ours.append(100 * (1 - answer["test_accuracy"]))
        told = lambda v: f"{statistics.mean(v):.2f} ± {statistics.stdev(v):.2f} %"
        print(f"| {kind} {128 if kind == 'resistive' else 64}-{settings['hidden']}-10 | {told(theirs)} | {told(ours)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="checkout of energy-based-learning")
    parser.add_argument("--nudge", type=pathlib.Path, default=ROOT / "build/release/apps/nudge")
    parser.add_argument("--digits", type=pathlib.Path, default=ROOT / "training/digits.csv")
    parser.add_argument("--samples", type=int, default=3200, help="timed in every round, scaled to 60,000 (default 3200)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), default=list(NETWORKS))
    options = parser.parse_args()
    sys.path.insert(0, str(options.source))
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        timings(options.nudge, pathlib.Path(folder), options.samples, options.rounds, options.networks)
        if options.networks == list(NETWORKS):
            errors(options.nudge, pathlib.Path(folder), options.digits)


if __name__ == "__main__":
    main()
