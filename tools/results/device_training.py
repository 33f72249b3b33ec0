#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does EP train on published devices? Pulses in place and write-verify, beside three nulls: frozen devices, a read-out that learns alone, and a
gradient of noise. README's table and that of results/results.md.

`--partial` makes the tables of what results/device_training*.h5 hold, without a run: the finished seeds of each cell.
"""
import statistics
import sys

import results
from intervals import deviations, trend

CONFIG = "examples/device_training.toml"
SHORT = ["data.text=", "train.steps=1", "train.batch=1", "model.tokens=8", "train.evaluation_batches=1", "sweep.seeds=[11, 12]",
         'sweep.grid.device.preset=["idealized", "taox_hfox"]']
NULL = 'sweep.grid.crossbar.update=["pulses"]'
SWEEPS = {"device_training": ["train.null=off"],
          "device_training_readout": ["train.null=off", "train.learns=readout", NULL],
          "device_training_noise_gradient": ["train.null=off", "train.learns=noise_gradient", NULL]}
LANES = {"pulses": "pulses in place", "write_verify": "written and verified"}
NULLS = {"none": "frozen", "device_training_readout": "read-out alone", "device_training_noise_gradient": "noise gradient"}


def points(name, partial):
    """Points of a sweep that ended well, with the lane that each is of; the facts of its file; what counting scores on its text."""
    out = results.FOLDER / f"{name}.h5"
    text = None if partial else results.study("sweep", CONFIG, name, SWEEPS[name], SHORT)["text"]
    if not out.exists():
        return [], {}, text
    found = results.exported(out)
    for point in found["points"]:
        point["lane"] = point["crossbar.update"] if name == "device_training" else name
    return found["points"], {row["attribute"]: row["value"] for row in found["attributes"]}, text or results.text_lines(found.get("text"))


def by_seed(rows, preset, lane, value="validation_loss"):
    return {row["seed"]: float(row[value]) for row in rows if (row["device.preset"], row["lane"], row["status"]) == (preset, lane, "ok") and row[value] != ""}


def mean(values, digits=3):
    return f"{statistics.mean(values):.{digits}f}" if values else "–"


def failed(rows, preset, lane):
    """" (1 of 3 failed)"; nothing where none did."""
    own = [row["status"] for row in rows if (row["device.preset"], row["lane"]) == (preset, lane)]
    bad = sum(status != "ok" for status in own)
    return f" ({bad} of {len(own)} failed)" if bad else ""


def of_whole_seeds(rows):
    """The rows of seeds that every cell has; all rows where there is no such seed."""
    cells = {(row["device.preset"], row["lane"]) for row in rows}
    have = {cell: {row["seed"] for row in rows if (row["device.preset"], row["lane"]) == cell} for cell in cells}
    whole = set.intersection(*have.values()) if have else set()
    return [row for row in rows if row["seed"] in whole] or rows


def strongest(rows, preset):
    """The lane of the null with the lowest mean loss; None without any."""
    known = {lane: found for lane in NULLS if (found := by_seed(rows, preset, lane))}
    return min(known, key=lambda lane: statistics.mean(known[lane].values()), default=None)


def against(rows, preset, lane):
    """The lane less the strongest null, paired by seed."""
    null = strongest(rows, preset)
    return "–" if null is None else results.paired_by_seed(by_seed(rows, preset, lane), by_seed(rows, preset, null))


def falls(rows, preset, lane, family, steps):
    """Whether the validation loss still falls over the last fifth, by the slopes of the seeds: all of them together at 95 %."""
    slopes = list(by_seed(rows, preset, lane, "loss_slope").values())
    if len(slopes) < 2:
        return "too few seeds to say: unfinished" if slopes else "–"
    middle, half = statistics.mean(slopes), deviations(len(slopes), family) * statistics.stdev(slopes)
    loss = statistics.mean(by_seed(rows, preset, lane).values())
    return f"{trend(middle, half, steps / 5000, loss)}, {middle:+.2f}"


def steps():
    return results.sections.measured_configs([CONFIG])[CONFIG]["train.steps"]


def briefly(rows, presets):
    """README's table."""
    family = len(presets) * len(LANES)
    table = [["device"] + list(LANES.values()) + ["strongest null", "loss still falls?"]]
    for preset in presets:
        null = strongest(rows, preset)
        lanes = [f"{mean(by_seed(rows, preset, lane).values())}: {against(rows, preset, lane)}{failed(rows, preset, lane)}" for lane in LANES]
        table.append([f"`{preset}`", *lanes, "–" if null is None else f"{mean(by_seed(rows, preset, null).values())}, {NULLS[null]}",
                      " / ".join(falls(rows, preset, lane, family, steps()).split(": ")[-1] for lane in LANES)])
    return results.table(table) + "\n\nAfter the colon: difference to the strongest null, paired by seed. Last column: slope of the last fifth in nat per 1000 steps, in place / written. Unfinished: a fifth more steps may change the loss by 1 % or more."


def seeds(rows):
    """"5 seeds", or of how many of the config's seeds there are runs; without the runs that failed."""
    found, wanted = len({row["seed"] for row in rows}), len(results.sections.measured_configs([CONFIG])[CONFIG]["sweep.seeds"])
    text = f"{found} seeds" if found >= wanted else f"{found} of the config's {wanted} seeds"
    return text + (", without runs that failed" if any(row["status"] != "ok" for row in rows) else "")


def full(rows, presets, text):
    """The table of results/results.md."""
    family = len(presets) * len(LANES)
    value = lambda row, key, unit=1: unit * float(row[key]) if row[key] != "" else None
    table = [["preset", "learns", "runs (failed)", "validation loss", "against the strongest null", "last fifth, nat per 1000 steps", "cosine", "skipped",
              "not finite", "pulses of programming", "pulses of learning", "heat of a step: reads", "heat of a step: pulses"]]
    for preset in presets:
        null = strongest(rows, preset)
        for lane, name in (LANES | NULLS).items():
            own = [row for row in rows if (row["device.preset"], row["lane"]) == (preset, lane)]
            if not own:
                continue
            good = [row for row in own if row["status"] == "ok"]
            of = lambda key, form, unit=1: "–" if not (known := [v for row in good if (v := value(row, key, unit)) is not None]) else form.format(statistics.mean(known))
            losses = list(by_seed(rows, preset, lane).values())
            table.append([f"`{preset}`", name + (" (strongest null)" if lane == null else ""), f"{len(own)} ({len(own) - len(good)})",
                          (results.mean_deviation(losses, 3) + results.unigram_mark(statistics.mean(losses), text, "validation")) if losses else "–",
                          against(rows, preset, lane) if lane in LANES else "–", falls(rows, preset, lane, family, steps()) if lane in LANES else "–",
                          of("cosine", "{:.4f}"), of("skipped", "{:.1f}"), of("nonfinite", "{:.1f}"), of("programming_pulses", "{:.1e}"),
                          of("pulses", "{:.1e}"), of("array_energy", "{:.3g} mJ", 1e3), of("write_energy", "{:.1f} nJ", 1e9)])
    return results.table(table) + ("\n\nNat per character, mean ± standard deviation over the seeds (" + seeds(rows) + "); skipped and not finite steps: means. The strongest null "
                                   "is the one with the lowest mean. The loss falls where the slope of the last fifth of the steps is below 0 for all rows together at "
                                   "95 %; unfinished: a fifth more steps may change it by 1 % or more. " + results.lines(text))


def main(partial):
    rows, commits, text = [], [], None
    for name in SWEEPS:
        own, facts, lines = points(name, partial)
        rows, text = rows + own, text or lines
        commits += [one for one in results.commits_of(facts) if one not in commits]
    rows = of_whole_seeds(rows)
    presets = list(dict.fromkeys(row["device.preset"] for row in rows))
    tried = [name for lane, name in NULLS.items() if any(row["lane"] == lane for row in rows)]
    where = f" Mean of {seeds(rows)}; nulls tried: {', '.join(tried)}. Commands, spreads, gradients and heat: [results](results/results.md)."
    shown = [results.shown("sweep", CONFIG, settings, name) for name, settings in SWEEPS.items()]
    kept = ("device.preset", "lane", "seed", "status", "validation_loss", "loss_slope", "cosine")
    data = {"columns": list(kept), "points": [[row[key] if key in kept[:4] else (float(row[key]) if row[key] else None) for key in kept] for row in rows]}
    results.write("device_training", shown, full(rows, presets, text), commits, briefly={"README.md": (briefly(rows, presets), where)}, data=data)


if __name__ == "__main__":
    main("--partial" in sys.argv[1:])
