#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pulse statistics of nudge's presets beside those of IBM aihwkit, run live.

Both start at the lower bounds of all devices, send 1.5 windows of single up pulses and as many down pulses, and are read
at 9 points. Weights of aihwkit's scale: w = (g - g_reference)/(g_max - g_min) * (w_max - w_min). Prints, per preset and
point, mean and standard deviation of both with z-scores, and at the end one row per preset in Markdown.

z of a mean: difference over the root of both squared standard errors. aihwkit draws its update noise from a table of 32,768
Gaussian numbers per tile, whose mean is off by 1/sqrt(32768) = 0.55 % of the noise: an error common to all devices of a
tile. So its devices are spread over --tiles tiles, and its standard error is that between the tiles.

    python3 bench/peers/aihwkit_statistics.py --nudge build/release/apps/nudge
"""
import argparse
import json
import math
import subprocess
import sys

import numpy as np

PRESETS = {
    "ecram": "EcRamPresetDevice",
    "capacitor": "CapacitorPresetDevice",
    "gokmen_vlasov": "GokmenVlasovPresetDevice",
    "reram_sb": "ReRamSBPresetDevice",
    "reram_es": "ReRamESPresetDevice",
    "idealized": "IdealizedPresetDevice",
}
BRANCH = 4  # points up, and as many down


def nudge_statistics(program, preset, devices, seed):
    """The staircase of `nudge devices characterize`, single pulses."""
    command = [program, "devices", "characterize", preset, "--devices", str(devices), "--points", str(BRANCH),
               "--one-by-one", "--cycles", "1", "--samples", "64", "--seed", str(seed), "--json"]
    out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return out["window"], {k: np.array(out["staircase"][k]) for k in ("pulse", "mean_S", "std_S")}


def tile_weights(preset, devices, pulses_per_point, tile_number):
    """Weights (points, devices) of one aihwkit tile, pulse by pulse through its analog update."""
    import torch
    from aihwkit.simulator.configs import SingleRPUConfig
    from aihwkit.simulator.presets import devices as presets
    from aihwkit.simulator.tiles.analog import AnalogTile

    device = getattr(presets, PRESETS[preset])(construction_seed=1000 + tile_number)
    config = SingleRPUConfig(device=device)
    # One pulse per update, always: a train of one slot whose probability is cut at 1.
    config.update.update_bl_management = False
    config.update.update_management = False
    config.update.desired_bl = 1
    tile = AnalogTile(devices, 1, config)
    tile.set_learning_rate(1)
    tile.set_weights(-100 * torch.ones(devices, 1))
    # The tile descends: x d > 0 is a down pulse.
    x, d = torch.ones(1, 1), torch.ones(1, devices)
    weights = [tile.get_weights()[0].numpy().ravel().copy()]
    for point in range(2 * BRANCH):
        for _ in range(pulses_per_point):
            tile.update(x, -d if point < BRANCH else d)
        weights.append(tile.get_weights()[0].numpy().ravel().copy())
    return np.array(weights, dtype=float), device


def standard_errors(groups):
    """Mean, standard deviation and their standard errors at each point, from groups (tiles, points, devices)."""
    tiles = len(groups)
    every = np.concatenate(groups, axis=1)
    mean, std = every.mean(axis=1), every.std(axis=1)
    kurtosis = ((every - mean[:, None]) ** 4).mean(axis=1) / std**4
    count = every.shape[1]
    mean_error, std_error = std / math.sqrt(count), std * np.sqrt((kurtosis - 1) / (4 * count))
    if tiles > 1:
        mean_error = np.std([g.mean(axis=1) for g in groups], axis=0, ddof=1) / math.sqrt(tiles)
        std_error = np.std([g.std(axis=1) for g in groups], axis=0, ddof=1) / math.sqrt(tiles)
    return mean, std, mean_error, std_error, kurtosis


def compare(preset, arguments):
    window, ours = nudge_statistics(arguments.nudge, preset, arguments.devices, arguments.seed)
    pulses_per_point = int(ours["pulse"][1])
    groups = []
    for tile in range(arguments.tiles):
        weights, device = tile_weights(preset, arguments.devices // arguments.tiles, pulses_per_point, tile)
        groups.append(weights)
    scale = (device.w_max - device.w_min) / (window["g_max_S"] - window["g_min_S"])
    mean, std = (ours["mean_S"] - window["g_reference_S"]) * scale, ours["std_S"] * scale
    peer_mean, peer_std, mean_error, std_error, kurtosis = standard_errors(groups)
    own_mean_error = std / math.sqrt(arguments.devices)
    own_std_error = std * np.sqrt((kurtosis - 1) / (4 * arguments.devices))
    z_mean = (mean - peer_mean) / np.hypot(mean_error, own_mean_error)
    z_std = (std - peer_std) / np.hypot(std_error, own_std_error)
    print(f"\n{preset}: {arguments.devices} devices, aihwkit in {arguments.tiles} tiles")
    print(f"{'pulses':>8} {'mean aihwkit':>13} {'nudge':>9} {'z':>6} {'std aihwkit':>12} {'nudge':>9} {'z':>6}")
    for k, pulse in enumerate(ours["pulse"]):
        print(f"{int(pulse):>8} {peer_mean[k]:>13.4f} {mean[k]:>9.4f} {z_mean[k]:>6.1f} {peer_std[k]:>12.4f} "
              f"{std[k]:>9.4f} {z_std[k]:>6.1f}", flush=True)
    at = int(np.argmax(np.abs(mean - peer_mean)))
    return (f"| `{preset}` | {peer_mean[0]:.3f} / {mean[0]:.3f} | {peer_std[0]:.3f} / {std[0]:.3f} "
            f"| {abs(mean - peer_mean)[at]:.4f} | {np.abs(z_mean).max():.1f} "
            f"| {(std / peer_std).min():.3f} to {(std / peer_std).max():.3f} | {np.abs(z_std).max():.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", help="default: all of " + ", ".join(PRESETS))
    parser.add_argument("--nudge", default="build/release/apps/nudge", help="the program")
    parser.add_argument("--devices", type=int, default=16384)
    parser.add_argument("--tiles", type=int, default=32, help="of aihwkit; divides --devices")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.presets) - set(PRESETS))
    if unknown:
        parser.error(f"no such preset: {', '.join(unknown)} (choose from {', '.join(PRESETS)})")
    if arguments.tiles < 1 or arguments.devices % arguments.tiles:
        parser.error("--tiles must divide --devices")
    try:
        import aihwkit
    except ImportError:
        sys.exit("aihwkit is not installed: see bench/peers/README.md")
    rows = [compare(preset, arguments) for preset in arguments.presets or PRESETS]
    print(f"\naihwkit {aihwkit.__version__}")
    print("| preset | mean at the lower bound, aihwkit / nudge | std there | largest difference of means | largest z "
          "| std nudge/aihwkit, all points | largest z |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
