#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Update rules of nudge beside those of IBM aihwkit, run live on the same devices and the same samples.

Devices: soft bounds with spreads of bounds, steps and symmetry, and noise of every pulse. Rules: coincidence trains on one array,
Tiki-Taka (TTv1), TTv2, chopped TTv2 and AGAD, with the same constants, reads exact, updates of one sample.

1. A known sequence of x and d whose mean gradients are −g, 0 and +g, a third of the devices each: means and spreads of the weights
   of each third at four times, with z-scores by the standard errors between tiles, which are drawn anew.
2. Linear regression by SGD: the mean square error of the weights at the end.
3. CPU time of an update of 512 x 512 devices by 64 samples, the contestants in turn, with many pulses and with few.

aihwkit is its source distribution (drivers.py).

    python3 bench/peers/aihwkit_rules.py --source aihwkit-1.2.0 --build build/release
"""
import argparse
import functools
import os
import pathlib
import statistics
import struct
import subprocess

import numpy as np

import drivers

DEVICE = {"dw_min": 0.01, "dw_min_dtod": 0.3, "dw_min_std": 0.3, "up_down_dtod": 0.05, "w_max": 1, "bound_dtod": 0.2}
PERIOD = 10  # of AGAD's chopper, reads of a column
INPUTS, OUTPUTS = 12, 15  # aihwkit 1.2.0 writes beyond a buffer where rows are transferred and inputs are more than outputs
# Rate of the fast array, share that is transferred, and what a rule has of its own.
RULES = {
    "coincidence": {"rate": 0.02},
    "tiki_taka": {"rate": 0.05, "transfer_rate": 0.02},
    "ttv2": {"rate": 0.05, "transfer_rate": 0.01},
    "c_ttv2": {"rate": 0.05, "transfer_rate": 0.01, "chopper": 0.05},
    "agad": {"rate": 0.05, "transfer_rate": 0.01, "period": PERIOD},
}
REPORTS = 4
SHARES = (1, 0.1, 0.03)


def nudge_settings(rule, values):
    """The same devices and constants as keys of nudge."""
    settings = {
        "device.model": "soft_bounds", "device.g_min": "10 uS", "device.g_max": "20 uS", "device.reference": 0.5,
        "device.pulses": round(2 * DEVICE["w_max"] / DEVICE["dw_min"]), "device.step_spread": DEVICE["dw_min_dtod"],
        "device.asymmetry_spread": DEVICE["up_down_dtod"], "device.update_noise": 0, "device.update_noise_floor": DEVICE["dw_min_std"],
        "device.upper_bound_spread": DEVICE["bound_dtod"], "device.lower_bound_spread": DEVICE["bound_dtod"],
        "device.programming_error": 0, "device.read_noise": 0, "crossbar.mapping": "offset", "crossbar.w_max": DEVICE["w_max"],
        "crossbar.update": rule}
    if rule != "coincidence":
        settings |= {"crossbar.fast_update": "coincidence", "crossbar.transfer_rate": values["transfer_rate"],
                     "crossbar.zero_shift_cycles": 0}
    if rule == "c_ttv2":
        settings["crossbar.chopper_probability"] = values["chopper"]
    if rule == "agad":
        settings["crossbar.chopper_period"] = values["period"]
    return [f"{key}={value}" for key, value in settings.items()]


class Contest:
    def __init__(self, arguments):
        self.programs = {
            "aihwkit": drivers.aihwkit_driver(arguments.source, arguments.build_peer or arguments.source / "core", "aihwkit_rules"),
            "nudge": drivers.nudge_driver(arguments.build.resolve(), "nudge_rules")}

    def run(self, who, rule, x, y, *, batch=1, tiles=1, regression=False):
        """CPU seconds of the updates, and weights (tiles, reports, inputs, outputs)."""
        values = RULES[rule]
        own = (nudge_settings(rule, values) if who == "nudge" else [f"{k}={v}" for k, v in (DEVICE | values).items()])
        command = [str(self.programs[who]), str(values["rate"]) if who == "nudge" else rule, *own]
        task = struct.pack("7i", x.shape[1], y.shape[1], len(x) // batch, batch, tiles, REPORTS, regression)
        out = subprocess.run(command, input=task + x.astype("f4").tobytes() + y.astype("f4").tobytes(), check=True,
                             stdout=subprocess.PIPE, env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}).stdout
        return struct.unpack("d", out[:8])[0], np.frombuffer(out[8:], "f4").reshape(tiles, REPORTS, x.shape[1], y.shape[1]).astype(float)


def z_scores(ours, theirs):
    """Of means over tiles (tiles, ...)."""
    error = np.sqrt((ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / len(ours))
    return (ours.mean(axis=0) - theirs.mean(axis=0)) / error


def known_sequence(updates, seed):
    """x and d with E[x_i d_j] = g s_ij/3, s = −1, 0, 1, a third each; AGAD has two periods of zeros before, in which it finds where
    the fast array stands (aihwkit sends nothing in the first)."""
    rng = np.random.default_rng(seed)
    sign = (np.arange(INPUTS)[:, None] + np.arange(OUTPUTS)[None, :]) % 3 - 1
    x = rng.uniform(-1, 1, (updates, INPUTS))
    d = -0.15 * x @ sign + rng.uniform(-0.5, 0.5, (updates, OUTPUTS))  # descent: weights of s = 1 rise
    still = 3 * PERIOD * OUTPUTS
    x[:still] = d[:still] = 0
    return x, d, sign


def statistics_row(contest, rule, arguments):
    x, d, sign = known_sequence(arguments.updates, arguments.seed)
    found = {who: contest.run(who, rule, x, d, tiles=arguments.tiles)[1] for who in ("aihwkit", "nudge")}
    means = {who: np.stack([w[:, :, sign == s].mean(axis=2) for s in (-1, 0, 1)], axis=2) for who, w in found.items()}
    spreads = {who: np.stack([w[:, :, sign == s].std(axis=2) for s in (-1, 0, 1)], axis=2) for who, w in found.items()}
    moved = slice(1, None)  # the first report may lie in the zeros
    z_mean = np.abs(z_scores(means["nudge"][:, moved], means["aihwkit"][:, moved])).max()
    z_spread = np.abs(z_scores(spreads["nudge"][:, moved], spreads["aihwkit"][:, moved])).max()
    last = [" / ".join(f"{m:.4f}" for m in (means[who][:, -1].mean(axis=0))) for who in ("aihwkit", "nudge")]
    ratio = spreads["nudge"][:, -1].mean() / spreads["aihwkit"][:, -1].mean()
    return f"| `{rule}` | {last[0]} | {last[1]} | {z_mean:.1f} | {ratio:.3f} | {z_spread:.1f} |"


def regression_row(contest, rule, arguments):
    rng = np.random.default_rng(arguments.seed + 1)
    target = rng.uniform(-0.4, 0.4, (INPUTS, OUTPUTS))
    x = rng.uniform(-1, 1, (arguments.steps, INPUTS))
    y = x @ target + rng.normal(0, 0.05, (arguments.steps, OUTPUTS))
    errors = {}
    for who in ("aihwkit", "nudge"):
        weights = contest.run(who, rule, x, y, tiles=arguments.tiles, regression=True)[1]
        errors[who] = ((weights[:, -1] - target) ** 2).mean(axis=(1, 2))
    text = [f"{e.mean():.5f} ± {e.std(ddof=1):.5f}" for e in errors.values()]
    return f"| `{rule}` | {(target ** 2).mean():.4f} | {text[0]} | {text[1]} | {z_scores(errors['nudge'], errors['aihwkit']):.1f} |"


def speed_row(contest, rule, arguments, share):
    """share: of d, and so of the pulses of a dense update, some half a pulse per device and sample."""
    rng = np.random.default_rng(arguments.seed + 2)
    updates, batch, size = 8, 64, 512
    x, d = rng.uniform(-1, 1, (2, updates * batch, size))
    d *= share
    seconds = {"aihwkit": [], "nudge": []}
    for _ in range(arguments.rounds):
        for who, all_of in seconds.items():
            all_of.append(contest.run(who, rule, x, d, batch=batch)[0] / updates)
    ratios = sorted(a / b for a, b in zip(seconds["aihwkit"], seconds["nudge"]))
    ms = {who: 1e3 * statistics.median(s) for who, s in seconds.items()}
    return (f"| `{rule}` | {ms['aihwkit']:.1f} | {ms['nudge']:.1f} | {statistics.median(ratios):.1f} "
            f"({ratios[0]:.1f} to {ratios[-1]:.1f}) |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", nargs="*", help="default: all of " + ", ".join(RULES))
    parser.add_argument("--source", type=pathlib.Path, required=True, help="aihwkit's unpacked source distribution")
    parser.add_argument("--build-peer", type=pathlib.Path, help="folder for its compiled core (default: SOURCE/core)")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="nudge's build folder")
    parser.add_argument("--tiles", type=int, default=64)
    parser.add_argument("--updates", type=int, default=1600, help="of the known sequence")
    parser.add_argument("--steps", type=int, default=4000, help="of the regression")
    parser.add_argument("--rounds", type=int, default=5, help="of the timing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed-only", action="store_true", help="only the last")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.rules) - set(RULES)):
        parser.error(f"no such rule: {', '.join(unknown)} (choose from {', '.join(RULES)})")
    contest = Contest(arguments)
    rules = arguments.rules or list(RULES)
    for title, head, row in (
            ("Known sequence", "rule | mean weights of −g / 0 / +g, aihwkit | nudge | largest z of 9 | spread nudge/aihwkit | largest z of 9",
             statistics_row),
            ("Regression", "rule | error at the start | aihwkit | nudge | z", regression_row),
            *((f"CPU time of an update, 512 x 512, 64 samples, {share:g} of the pulses", "rule | aihwkit, ms | nudge, ms | ratio (rounds)",
               functools.partial(speed_row, share=share)) for share in SHARES)):
        if arguments.speed_only and not title.startswith("CPU"):
            continue
        print(f"\n{title}\n| {head} |\n|{'---|' * (head.count('|') + 1)}")
        for rule in rules:
            print(row(contest, rule, arguments), flush=True)


if __name__ == "__main__":
    main()
