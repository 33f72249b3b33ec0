#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which update rule for which device? Digits by plain SGD with every rule on published devices, frozen devices and exact numbers beside them.

Rates, thresholds and transfer rates were chosen by the validation loss of seed 1 on reram_sb: rates of 0.05, 0.1 and 0.2 for all, thresholds of 1
to 30 for accumulate, transfer rates of 0.002 to 0.1 for rules with a fast array; the table has other seeds.
"""
import results

CONFIG = "examples/rules_digits.toml"
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]"]
ONE = ['sweep.grid.device.preset=["taox_hfox"]']
DIGITAL = ["device.model=digital", 'sweep.grid.device.preset=[""]', 'sweep.grid.crossbar.update=["pulses"]']
IDEAL = ["device.model=ideal", 'sweep.grid.device.preset=[""]', 'sweep.grid.crossbar.update=["pulses"]']
READ_BACK = ["crossbar.read_back=true", 'sweep.grid.crossbar.update=["accumulate"]']
ONE_SIDED = ["crossbar.mapping=one_sided", 'sweep.grid.crossbar.update=["one_sided"]']
FAST = ["train.learning_rate=0.2", "crossbar.threshold=1", 'sweep.grid.device.preset=["reram_es", "reram_sb"]',
        'sweep.grid.crossbar.update=["tiki_taka", "ttv2", "c_ttv2", "agad", "residual", "multi_tile"]']
PARTS = (("rules", []), ("read_back", READ_BACK), ("one_sided", ONE_SIDED), ("fast", FAST))


def name_of(part, cell):
    update = cell["crossbar.update"]
    return "none: frozen" if update == "none" else f"`{update}`" + (", read back" if part == "read_back" else "")


commits = results.noted("rules")
digital = results.study("sweep", CONFIG, "rules_digital", DIGITAL, SHORT)
ideal = results.study("sweep", CONFIG, "rules_ideal", IDEAL, SHORT)
answers = {part: results.study("sweep", CONFIG, f"rules_{part}", settings, SHORT + ONE) for part, settings in PARTS}
exact = results.by_seed(digital, digital["summary"][0])


def row(preset, name, answer, cell):
    count = lambda key: "–" if not cell[key]["mean"] else f"{cell[key]['mean']:.1e}"
    return [preset, name, f"{cell['runs']} ({cell['failed']})", results.spread(cell["validation_loss"]),
            results.paired_by_seed(results.by_seed(answer, cell), exact, 4), results.percent(cell["validation_accuracy"]),
            count("pulses"), count("verify_reads"), count("transfer_reads")]


rows = [["preset", "rule", "runs (failed)", "validation loss", "lost against exact numbers", "validation accuracy", "pulses of learning",
         "reads of devices", "reads of columns"],
        row("none", "exact numbers", digital, digital["summary"][0])[:4] + ["–"] + row("none", "", digital, digital["summary"][0])[5:],
        row("`ideal` devices", "`pulses`", ideal, ideal["summary"][0])]
for preset in dict.fromkeys(cell["device.preset"] for cell in answers["rules"]["summary"]):
    for part, answer in answers.items():
        rows += [row(f"`{preset}`", name_of(part, cell), answer, cell) for cell in answer["summary"] if cell["device.preset"] == preset]
body = results.table(rows) + ("\n\nMean ± standard deviation over the seeds; lost: mean of the differences, paired by seed; pulses and reads "
                              "of all arrays. ") + results.trivial(digital["reference"])
shown = [results.shown("sweep", CONFIG, settings, out) for settings, out in
         ((DIGITAL, "digital"), (IDEAL, "ideal"), ([], ""), (READ_BACK, "read_back"), (ONE_SIDED, "one_sided"), (FAST, "fast"))]
results.write("rules", shown, body, commits)
