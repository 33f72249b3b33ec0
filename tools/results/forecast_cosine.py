#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the cosine that a run forecasts the cosine that its gradients have? 200 random circuits: `nudge config check` forecasts on the first batch,
and on up to three more where the first is no good. `nudge gradcheck` measures on the same four batches and on the eight after them, with the same
weights and devices.

Draw number n takes every value from the hash of (seed, n, key): any draw can be made again by itself. A draw that `config check` refuses is
counted and left out. Draws stand in results/forecast_cosine.jsonl, one a line; a script that was stopped goes on after the last one.
`--draw N` prints the commands of a draw.
"""
import hashlib
import json
import math
import os
import re
import resource
import shlex
import statistics
import subprocess
import sys

import results

SEED = 1
WANTED = 8 if results.SHORT else 200
CHECKED = (1, 4, 8, 12)  # batches of the checks: what a forecast may see (one, or four), and two means of four after them
BOUNDS = (0.1, 0.9)  # where a run refuses, and where it warns
FAR = 0.1  # a forecast that is off by more is far off

PRESETS = ("idealized", "ecram", "ecram_mo", "capacitor", "reram_es", "reram_sb", "taox_hfox", "pcm_pulsed", "gokmen_vlasov",
           "reram_array_om", "reram_array_hfo2")
# Those that nudge and have a forecast (all but dyadic).
ESTIMATORS = ("ep", "ep_contrastive", "ep_anchored", "aep", "aep_anchored", "aep_tracked", "aep_transposed", "aep_npoint")


class Draw:
    """Values of draw number n, each from its own counter."""

    def __init__(self, number):
        self.number = number

    def unit(self, key):
        digest = hashlib.sha256(f"{SEED} {self.number} {key}".encode()).digest()
        return int.from_bytes(digest[:7], "big") / 2**56

    def of(self, key, values):
        return values[int(self.unit(key) * len(values))]

    def chance(self, key, share):
        return self.unit("chance " + key) < share

    def log(self, key, low, high):
        return f"{low * (high / low) ** self.unit(key):.3g}"


def network(draw):
    """Config and settings of a small network."""
    kind = draw.of("network", ("hopfield", "block", "resistive"))
    if kind == "hopfield":
        own = [f"hopfield.hidden={draw.of('hidden', ('[16]', '[32]', '[48]', '[24, 16]'))}", f"hopfield.form={draw.of('form', ('projected', 'projected', 'energy'))}"]
        if draw.chance("parallel", 0.5):
            own += ["relaxation.schedule=parallel", "relaxation.step=0.5"]
        return kind, "examples/digits.toml", own
    if kind == "resistive":
        own = ["relaxation.solver=euler", f"resistive.hidden={draw.of('hidden', ('[16]', '[32]'))}", f"resistive.gain=[{draw.of('gain', (4, 10, 20))}.0]"]
        return kind, "examples/resistive.toml", own
    own = ["data.text=", f"model.channels={draw.of('channels', (8, 16))}", f"model.tokens={draw.of('tokens', (4, 8))}",
           f"model.memories={draw.of('memories', (0, 16, 32))}", f"model.heads={draw.of('heads', (1, 2))}"]
    return kind, "examples/shakespeare_small.toml", own


def settings(number):
    """Config, kind of network, estimator and settings of a draw."""
    draw = Draw(number)
    kind, config, own = network(draw)
    estimator = draw.of("estimator", ESTIMATORS)
    own += [f"estimator={estimator}", f"seed={1 + number}", "nudge.below_noise=true", "nudge.below_rounding=true",
            f"relaxation.free_steps={draw.of('free_steps', (10, 20, 40, 80))}", f"relaxation.nudged_steps={draw.of('nudged_steps', (6, 12, 24, 48))}"]
    own += [f"beta={draw.log('beta', 1e-3, 1)}"] if draw.chance("beta", 0.7) else ["beta=auto"]
    preset = draw.of("preset", PRESETS)
    own += [f"device.preset={preset}"]
    maybe = lambda key, share, text: [f"{key}={text}"] if draw.chance(key, share) else []
    own += maybe("device.read_noise", 0.4, draw.log("device.read_noise", 1e-4, 0.05))
    own += maybe("circuit.node_capacitance", 0.3, draw.log("circuit.node_capacitance", 1e-15, 1e-11) + " F")
    own += maybe("circuit.hold_capacitance", 0.3, draw.log("circuit.hold_capacitance", 1e-14, 1e-11) + " F")
    own += maybe("crossbar.row_resistance", 0.1, draw.of("crossbar.row_resistance", ("1 Ohm", "3 Ohm"))) if kind != "resistive" else []
    own += maybe("hardware.level", 0.15, "ideal")
    return config, kind, estimator, preset, own + (at_lines(draw, maybe) if kind != "resistive" else [])


def at_lines(draw, maybe):
    """Settings of what stands between the lines of an array and the nodes; a resistive network has its nodes on the devices."""
    own = maybe("circuit.amplifier", 0.6, draw.of("circuit.amplifier", ("ota_180nm", "lt6230_10", "opa847")))
    own += maybe("circuit.auto_zero", 0.5, draw.of("circuit.auto_zero", ("true", "false")))
    own += maybe("circuit.time_constant", 0.4, draw.log("circuit.time_constant", 25e-9, 20e-6) + " s")
    own += maybe("circuit.gain_bandwidth", 0.3, draw.log("circuit.gain_bandwidth", 1e7, 1e10) + " Hz")
    for key in ("crossbar.forward_offset", "crossbar.transposed_offset"):
        own += maybe(key, 0.3, draw.log(key, 1e-5, 1e-2) + " V")
    for key in ("crossbar.forward_noise", "crossbar.transposed_noise"):
        own += maybe(key, 0.3, draw.log(key, 1e-10, 1e-7) + " V")
    for key in ("crossbar.forward_adc_bits", "crossbar.transposed_adc_bits", "crossbar.forward_dac_bits", "circuit.phase_adc_bits"):
        own += maybe(key, 0.25, draw.of(key, (4, 6, 8, 10, 12)))
    return own + maybe("crossbar.transposed_gain_error", 0.15, draw.of("crossbar.transposed_gain_error", ("0.05", "0.2")))


def answer(arguments):
    """Standard output, error, exit code and processor seconds of nudge."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([results.PROGRAM, *arguments], cwd=results.ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(number, batches=CHECKED[-1]):
    """Arguments of the forecast and of the measurement of a draw."""
    config, _, estimator, _, own = settings(number)
    words = [word for one in own for word in ("--set", one)]
    check = ["gradcheck.finite_difference_entries=0", f"gradcheck.batches={batches}", f'gradcheck.estimators=["{estimator}"]']
    return ["config", "check", config, *words], ["gradcheck", config, "--json", *words, *(word for one in check for word in ("--set", one))]


def forecast_of(text):
    """Cosine and named part of the sentence, and its number of batches; None for what the program says is not known."""
    found = re.search(r"ha(?:s|ve) a (?:mean )?cosine of (-?[\d.]+) with the exact ones?(?:; without (.*) it is (-?[\d.]+))?", text)
    several = re.search(r"gradients of the first (\d+) batches", text)
    return (float(found[1]), found[2], int(several[1]) if several else 1) if found else (None, None, 1)


def measured_cosines(number):
    """Cosines of the first batch, of the three after it, and of the two fours after these; the seconds of the last check; why there are none."""
    sums, found = {0: 0.0}, []
    for batches, before in zip(CHECKED, (0, *CHECKED)):
        done, seconds = answer(commands(number, batches)[1])
        if done.returncode != 0:
            return [], seconds, " ".join(done.stderr.split())[-300:]
        row = [r for r in json.loads(done.stdout)["rows"] if r["group"] == "all"][0]
        if not row["has_gradient"] or row["cosine"] is None:
            return [], seconds, "no gradient"
        sums[batches] = batches * row["cosine"]
        found.append((sums[batches] - sums[before]) / (batches - before))
    return found, seconds, ""


def ratio_of(done):
    """Signal-to-noise ratio of the nudge that a check prints; None where there is no noise."""
    found = re.search(r"signal-to-noise (?:at most |at least )?([\d.e+-]+)", done.stdout + done.stderr)
    return float(found[1].rstrip(".")) if found else None


def lifted(number, done):
    """Of "beta = X lifts it to 10": the ratio that X has; None where nothing is advised."""
    advised = re.search(r"beta = ([\d.e-]+) lifts it to 10", done.stdout + done.stderr)
    return ratio_of(answer([*commands(number)[0], "--set", f"beta={advised[1]}"])[0]) if advised else None


def made(number):
    """What one draw says, as a line of results/forecast_cosine.jsonl."""
    _, kind, estimator, preset, _ = settings(number)
    out = {"draw": number, "network": kind, "estimator": estimator, "preset": preset}
    done, seconds = answer(commands(number)[0])
    if done.returncode != 0:
        return out | {"refused": " ".join(done.stderr.split())[:300]}
    if "of the first" not in done.stdout:
        return out | {"refused": "no forecast: " + " ".join(done.stdout.split())[-200:]}
    value, part, seen = forecast_of(done.stdout)
    cosines, check_seconds, said = measured_cosines(number)
    return out | {"forecast": value, "part": part, "seen": seen, "signal_to_noise": ratio_of(done), "lifted": lifted(number, done), "cosines": cosines, "said": said,
                  "check_seconds": round(seconds, 3), "gradcheck_seconds": round(check_seconds, 3)}


def draws():
    """All draws until WANTED are legal, made or read."""
    kept = results.FOLDER / "forecast_cosine.jsonl"
    results.FOLDER.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    while sum("refused" not in row for row in rows) < WANTED:
        rows.append(made(len(rows)))
        with kept.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")
    return rows


def known(row):
    return row["forecast"] is not None and bool(row["cosines"])


def measured(row):
    """Mean cosine of the eight batches that no forecast has seen; None where it is not known."""
    return statistics.mean(row["cosines"][2:]) if row["cosines"] else None


def repeated(row):
    """Mean cosine of the batches that the forecast has seen."""
    return row["cosines"][0] if row["seen"] == 1 else (row["cosines"][0] + 3 * row["cosines"][1]) / 4


def rank_correlation(pairs):
    """Spearman's, ties at their mean rank."""
    def ranks(values):
        order = sorted(values)
        return [order.index(v) + (order.count(v) - 1) / 2 for v in values]
    return statistics.correlation(*(ranks(list(column)) for column in zip(*pairs))) if len(pairs) > 2 else math.nan


def scatter(rows):
    """Standard deviation of the cosine of one batch, from two means of four."""
    return math.sqrt(statistics.mean(2 * (row["cosines"][2] - row["cosines"][3]) ** 2 for row in rows)) if rows else math.nan


def band(value):
    return "not known" if value is None else BANDS[sum(value >= bound for bound in BOUNDS)]


BANDS = ("below 0.1: refused", "0.1 to 0.9: warned of", "0.9 and more")


def by_band(rows):
    """Where the measured cosines lie, by what was forecast."""
    table = [["forecast"] + [f"measured {name.split(':')[0]}" for name in reversed(BANDS)] + ["not known", f"off by more than {FAR}", "standard deviation of a batch"]]
    for name in (*reversed(BANDS), "not known"):
        own = [row for row in rows if band(row["forecast"]) == name]
        found = [band(measured(row)) for row in own]
        sure = [row for row in own if known(row)]
        far = sum(abs(row["forecast"] - measured(row)) > FAR for row in sure)
        table.append([name] + [found.count(one) for one in (*reversed(BANDS), "not known")] +
                     ([f"{far} of {len(sure)}", f"{scatter(sure):.2f}"] if sure else ["–", "–"]))
    return results.table(table)


def by_network(rows):
    """Rank correlations, and how far forecasts are off."""
    table = [["circuits", "known", "rank correlation", "mean distance to the same batches", "mean distance to eight others", "forecast, s", "check of 12 batches, s"]]
    kinds = sorted({row["network"] for row in rows})
    loud = "all, signal-to-noise of at least 1"
    for name in (*kinds, "all", loud):
        own = [row for row in rows if name in ("all", row["network"]) or (name == loud and (row["signal_to_noise"] or 0) >= 1)]
        sure = [row for row in own if known(row)]
        if len(sure) < 3:
            continue
        off = [statistics.mean(abs(row["forecast"] - one(row)) for row in sure) for one in (repeated, measured)]
        seconds = lambda key: f"{statistics.median(row[key] for row in own):.2f}, at most {max(row[key] for row in own):.1f}"
        table.append([name, f"{len(sure)} of {len(own)}", f"{rank_correlation([(row['forecast'], measured(row)) for row in sure]):.3f}", f"{off[0]:.4f}", f"{off[1]:.3f}",
                      seconds("check_seconds"), seconds("gradcheck_seconds")])
    return results.table(table)


def misses(rows):
    """Draws whose forecast lies on the other side of a bound, the farthest first, with their numbers."""
    wrong = [row for row in rows if known(row) and band(row["forecast"]) != band(measured(row))]
    wrong.sort(key=lambda row: -abs(row["forecast"] - measured(row)))
    return "; ".join(f"{row['draw']} ({row['network']}, `{row['estimator']}`): {row['forecast']:.2f}, measured {measured(row):.2f}" for row in wrong[:8])


def main():
    commits = results.noted("forecast_cosine")
    everything = draws()
    rows = [row for row in everything if "refused" not in row]
    body = (by_band(rows) + "\n\n" + by_network(rows) + f"\n\n{len(rows)} circuits of seed {SEED}, of {len(everything)} draws: `nudge config check` refused the others. Distances are of "
            f"cosines, seconds are medians of one core. The eight farthest of those on the other side of a bound, by the number of the draw: {misses(rows)}. "
            "`python3 tools/results/forecast_cosine.py --draw N` prints the commands of a draw.")
    columns = ("draw", "network", "estimator", "preset", "forecast", "seen", "part", "signal_to_noise")
    data = {"columns": [*columns, "first batch", "batches 2 to 4", "batches 5 to 8", "batches 9 to 12"],
            "circuits": [[row[key] for key in columns] + [round(one, 4) for one in row["cosines"]] for row in rows]}
    results.write("forecast_cosine", ["make results TABLES=forecast_cosine"], body, commits, "results/estimators.md", data=data)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--draw"]:
        for one in commands(int(sys.argv[2])):
            print(shlex.join(["nudge", *one]))
    else:
        main()
