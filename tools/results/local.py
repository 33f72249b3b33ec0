#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does it cost to learn without anything digital at a weight? Digits by EP at the levels of hardware, each difference by itself: momentum, multipliers and
activations that are circuits, pulse trains; frozen devices beside them. Rates of 0.05, 0.2, 0.5 and 1 were tried for every level on seed 1 (0.05 is best with momentum,
0.2 without); every seed of the table has a split of its own."""
import results

CONFIG = "examples/rules_digits.toml"
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]", 'sweep.grid.device.preset=["ecram"]']
EACH = ["data.split_seed=seed", 'sweep.grid.crossbar.update=["pulses"]', 'sweep.grid.device.preset=["ecram", "reram_es", "taox_hfox"]', "beta=0.5"]
PLAIN = ["train.momentum=0", "train.learning_rate=0.2"]
LOCAL = ["hardware.level=local", "train.learning_rate=0.2"]
ROWS = (("ideal, momentum .9", ["hardware.level=ideal"]),
        ("mixed, momentum .9", []),
        ("mixed, no momentum", PLAIN),
        ("local", LOCAL),
        ("local, exact multipliers", LOCAL + ["correlator.gain_spread=0", "correlator.offset=0", "correlator.noise=0"]),
        ("local, equal units", LOCAL + ["neuron.gain_spread=0", "neuron.offset_spread=0"]),
        ("local, multipliers of 10 times the offset and noise", LOCAL + ["correlator.offset=1e-3", "correlator.noise=1e-2"]),
        ("local, pulse trains multiply", LOCAL + ['sweep.grid.crossbar.update=["coincidence"]']),
        ("frozen", LOCAL + ['sweep.grid.crossbar.update=["none"]']))
SWEPT = (ROWS[2], ROWS[3], ROWS[4])
BETAS = ['sweep.grid.device.preset=["ecram"]', "sweep.grid.beta=[0.01, 0.02, 0.05, 0.1, 0.2, 0.5]"]


def main():
    commits = results.noted("local")
    answers = [(name, settings, results.study("sweep", CONFIG, f"local_{i}", EACH + settings, SHORT)) for i, (name, settings) in enumerate(ROWS)]
    presets = [cell["device.preset"] for cell in answers[0][2]["summary"]]
    rows = [["level"] + [f"`{p}`: loss, accuracy, against mixed without momentum" for p in presets]]
    base = {p: results.by_seed(answers[2][2], {"device.preset": p}) for p in presets}
    for name, _, answer in answers:
        row = [name]
        for preset in presets:
            cell = next(c for c in answer["summary"] if c["device.preset"] == preset)
            failed = f", {cell['failed']} of {cell['runs'] + cell['failed']} do not settle" if cell["failed"] else ""
            against = results.paired_by_seed(results.by_seed(answer, {"device.preset": preset}), base[preset], 4)
            row.append(f"{results.spread(cell['validation_loss'])}, {results.percent(cell['validation_accuracy'])}{failed}" +
                       ("" if name == "mixed, no momentum" else f", {against}"))
        rows.append(row)
    body = results.table(rows)
    nudges = [["beta"]] + [[name] for name, _ in SWEPT]
    for at, (_, settings) in enumerate(SWEPT, 1):
        answer = results.study("sweep", CONFIG, f"local_beta_{at}", EACH + settings + BETAS, SHORT[:2])
        for cell in answer["summary"]:
            if at == 1:
                nudges[0].append(str(cell["beta"]))
            failed = f" ({cell['failed']} do not settle)" if cell["failed"] else ""
            nudges[at].append(results.spread(cell["validation_loss"]) + failed)
    body += "\n\nHow far the nudge must be, on `ecram`:\n\n" + results.table(nudges)
    shown = [results.shown("sweep", CONFIG, EACH + settings, f"local_{i}") for i, (_, settings) in enumerate(ROWS)]
    shown += [results.shown("sweep", CONFIG, EACH + settings + BETAS, f"local_beta_{at}") for at, (_, settings) in enumerate(SWEPT, 1)]
    results.write("local", shown, body + "\n\nValidation loss ± standard deviation of three seeds, each with its split; differences are paired by seed.",
                  commits)


if __name__ == "__main__":
    main()
