#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pulse statistics of nudge's presets beside those of IBM aihwkit, run live.

Both start at the lower bounds of all devices, send 1.5 windows of single up pulses and as many down pulses, and are read
at 9 points, in weights of aihwkit's scale: w = (g - g_reference)/(g_max - g_min) * (w_max - w_min). Prints, per preset and
point, mean and standard deviation of both with z-scores, and at the end one row per preset in Markdown.

aihwkit is its source distribution: its C++ core is compiled with aihwkit_staircase.cpp (no Torch needed), and the numbers
of a preset are read from its Python classes as text.

z: difference over the root of both squared standard errors. aihwkit draws update noise from a table of 32,768 Gaussian
numbers per tile, whose mean is off by 1/sqrt(32768) = 0.55 % of the noise of a pulse, an error that all pulses of all
devices of a tile share. So its devices are spread over --tiles tiles, and its standard errors are those between tiles.

    python3 bench/peers/aihwkit_statistics.py --source aihwkit-1.2.0 --nudge build/release/apps/nudge
"""
import argparse
import ast
import json
import math
import operator
import pathlib
import subprocess
import sys

import numpy as np

import drivers

PRESETS = {
    "ecram": "EcRamPresetDevice",
    "capacitor": "CapacitorPresetDevice",
    "gokmen_vlasov": "GokmenVlasovPresetDevice",
    "reram_sb": "ReRamSBPresetDevice",
    "reram_es": "ReRamESPresetDevice",
    "idealized": "IdealizedPresetDevice",
}
BRANCH = 4  # points up, and as many down
COMMON = {k: k for k in ("dw_min", "dw_min_dtod", "dw_min_std", "dw_min_dtod_log_normal", "w_min", "w_min_dtod", "w_max",
                         "w_max_dtod", "up_down", "up_down_dtod", "enforce_consistency", "write_noise_std",
                         "apply_write_noise_on_set")}
# Names in Python and in C++, per kind of device.
OWN = {
    "ConstantStep": {},
    "LinearStep": {"gamma_up": "ls_decrease_up", "gamma_down": "ls_decrease_down", "gamma_up_dtod": "ls_decrease_up_dtod",
                   "gamma_down_dtod": "ls_decrease_down_dtod", "allow_increasing": "ls_allow_increasing_slope",
                   "mean_bound_reference": "ls_mean_bound_reference", "mult_noise": "ls_mult_noise"},
    "SoftBoundsReference": {k: k for k in ("slope_up_dtod", "slope_down_dtod", "reference_mean", "reference_std",
                                           "mult_noise", "subtract_symmetry_point")},
    "ExpStep": {"A_up": "es_A_up", "A_down": "es_A_down", "gamma_up": "es_gamma_up", "gamma_down": "es_gamma_down",
                "a": "es_a", "b": "es_b", "dw_min_std_add": "dw_min_std_add", "dw_min_std_slope": "dw_min_std_slope"},
}
# Of no effect on pulses, or acting between mini-batches only (the leak of the capacitor).
IDLE = {"construction_seed", "diffusion", "diffusion_dtod", "drift", "lifetime", "lifetime_dtod", "perfect_bias", "reset",
        "reset_dtod", "reset_std", "count_pulses", "corrupt_devices_range", "bindings_class", "bindings_module",
        "bindings_ignore", "implements_write_noise", "reverse_up", "reverse_down", "reverse_offset"}
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
             ast.Pow: operator.pow}


def value_of(node):
    """A number written as arithmetic, or None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = value_of(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = value_of(node.left), value_of(node.right)
        return None if left is None or right is None else OPERATORS[type(node.op)](left, right)
    return None


def classes_of(*files):
    found = {}
    for file in files:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found[node.name] = node
    return found


def preset_values(classes, name):
    """Kind of device and the members of its C++ parameters, by the fields of the preset's class and its bases."""
    chain, kind = [], None
    while name in classes:
        chain.append(classes[name])
        if name.endswith("Device") and name[:-6] in OWN:
            kind = name[:-6]
        bases = [base.id for base in classes[name].bases if isinstance(base, ast.Name) and base.id in classes]
        name = bases[0] if bases else ""
    fields = {}
    for node in reversed(chain):
        for line in node.body:
            if isinstance(line, ast.AnnAssign) and line.value is not None and isinstance(line.target, ast.Name):
                fields[line.target.id] = value_of(line.value)
    names = {**COMMON, **OWN[kind]}
    unknown = set(fields) - set(names) - IDLE
    if fields.get("corrupt_devices_prob") == 0:
        unknown.discard("corrupt_devices_prob")
    if unknown:
        sys.exit(f"{chain[0].name}: fields that this script does not know: {', '.join(sorted(unknown))}")
    missing = [k for k in names if k in fields and fields[k] is None]
    if missing:
        sys.exit(f"{chain[0].name}: not numbers: {', '.join(missing)}")
    return kind, {names[k]: fields[k] for k in names if k in fields}


def nudge_statistics(program, preset, devices, seed):
    """The staircase of `nudge devices characterize`, single pulses."""
    command = [program, "devices", "characterize", preset, "--devices", str(devices), "--points", str(BRANCH),
               "--one-by-one", "--cycles", "1", "--samples", "64", "--seed", str(seed), "--json"]
    out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return out["window"], {k: np.array(out["staircase"][k]) for k in ("pulse", "mean_S", "std_S")}


def peer_weights(driver, kind, values, tiles, devices, pulses_per_point):
    """Weights (tiles, points, devices)."""
    command = [str(driver), kind, str(tiles), str(devices // tiles), str(BRANCH), str(pulses_per_point)]
    command += [f"{k}={v:.9g}" for k, v in values.items()]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return np.frombuffer(out, dtype=np.float32).reshape(tiles, 2 * BRANCH + 1, devices // tiles).astype(float)


def statistics(weights):
    """Mean and standard deviation over all devices, their standard errors, and the kurtosis, per point."""
    tiles, points, _ = weights.shape
    every = weights.transpose(1, 0, 2).reshape(points, -1)
    mean, std = every.mean(axis=1), every.std(axis=1)
    kurtosis = ((every - mean[:, None]) ** 4).mean(axis=1) / std**4
    count = every.shape[1]
    mean_error, std_error = std / math.sqrt(count), std * np.sqrt((kurtosis - 1) / (4 * count))
    if tiles > 1:
        mean_error = weights.mean(axis=2).std(axis=0, ddof=1) / math.sqrt(tiles)
        std_error = weights.std(axis=2).std(axis=0, ddof=1) / math.sqrt(tiles)
    return mean, std, mean_error, std_error, kurtosis


def compare(preset, driver, classes, arguments):
    window, ours = nudge_statistics(arguments.nudge, preset, arguments.devices, arguments.seed)
    kind, values = preset_values(classes, PRESETS[preset])
    weights = peer_weights(driver, kind, values, arguments.tiles, arguments.devices, int(ours["pulse"][1]))
    peer_mean, peer_std, mean_error, std_error, kurtosis = statistics(weights)
    scale = (values["w_max"] - values["w_min"]) / (window["g_max_S"] - window["g_min_S"])
    mean, std = (ours["mean_S"] - window["g_reference_S"]) * scale, ours["std_S"] * scale
    own_mean_error = std / math.sqrt(arguments.devices)
    own_std_error = std * np.sqrt((kurtosis - 1) / (4 * arguments.devices))
    z_mean = (mean - peer_mean) / np.hypot(mean_error, own_mean_error)
    z_std = (std - peer_std) / np.hypot(std_error, own_std_error)
    print(f"\n{preset} ({kind}): {arguments.devices} devices, aihwkit in {arguments.tiles} tiles")
    print(f"{'pulses':>8} {'mean aihwkit':>13} {'nudge':>9} {'z':>6} {'std aihwkit':>12} {'nudge':>9} {'z':>6}")
    for k, pulse in enumerate(ours["pulse"]):
        print(f"{int(pulse):>8} {peer_mean[k]:>13.4f} {mean[k]:>9.4f} {z_mean[k]:>6.1f} {peer_std[k]:>12.4f} "
              f"{std[k]:>9.4f} {z_std[k]:>6.1f}", flush=True)
    return (f"| `{preset}` | {peer_mean[0]:.3f} / {mean[0]:.3f} | {peer_std[0]:.3f} / {std[0]:.3f} "
            f"| {np.abs(mean - peer_mean).max():.4f} | {np.abs(z_mean).max():.1f} "
            f"| {(std / peer_std).min():.3f} to {(std / peer_std).max():.3f} | {np.abs(z_std).max():.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", help="default: all of " + ", ".join(PRESETS))
    parser.add_argument("--source", type=pathlib.Path, required=True, help="aihwkit's unpacked source distribution")
    parser.add_argument("--build", type=pathlib.Path, help="folder for its compiled core (default: SOURCE/core)")
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
    package = arguments.source / "src" / "aihwkit"
    if not package.is_dir():
        parser.error(f"{arguments.source}: no src/aihwkit in it (unpack aihwkit's source distribution there)")
    driver = drivers.aihwkit_driver(arguments.source, arguments.build or arguments.source / "core", "aihwkit_staircase")
    classes = classes_of(package / "simulator" / "configs" / "devices.py", package / "simulator" / "presets" / "devices.py")
    version = (package / "VERSION.txt").read_text(encoding="utf-8").strip()
    rows = [compare(preset, driver, classes, arguments) for preset in arguments.presets or PRESETS]
    print(f"\naihwkit {version}, {arguments.tiles} tiles of {arguments.devices // arguments.tiles} devices")
    print("| preset | mean at the lower bound, aihwkit / nudge | std there | largest difference of means | largest z "
          "| std nudge/aihwkit, all points | largest z |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
