#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which update rule for which device? Digits by plain SGD with every rule on published devices, frozen devices and exact numbers beside them."""
import results

CONFIG = "examples/rules_digits.toml"
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]", 'sweep.grid.device.preset=["taox_hfox"]',
         'sweep.grid.crossbar.update=["pulses", "accumulate", "none"]']
DIGITAL = ["device.model=digital", 'sweep.grid.device.preset=[""]', 'sweep.grid.crossbar.update=["pulses"]']


def losses(answer, cell=None):
    """Validation losses by seed, of the runs of a cell or of all that succeeded."""
    keys = answer["keys"] if cell else []
    return {point["seed"]: point["validation_loss"] for point in answer["points"]
            if point["status"] == "ok" and all(point[key] == cell[key] for key in keys)}


commits = results.noted("rules")
answer = results.study("sweep", CONFIG, "rules", [], SHORT)
digital = results.study("sweep", CONFIG, "rules_digital", DIGITAL, SHORT[:2])
exact = losses(digital)
rows = [["preset", "rule", "runs (failed)", "validation loss", "lost against exact numbers (paired, 95 %)", "validation accuracy",
         "pulses of learning", "reads of devices", "reads of columns"]]
whole = digital["summary"][0]
rows.append(["none", "exact numbers", f"{whole['runs']} ({whole['failed']})", results.spread(whole["validation_loss"]), "–",
             results.percent(whole["validation_accuracy"]), "–", "–", "–"])
for cell in answer["summary"]:
    own = losses(answer, cell)
    count = lambda key: "–" if not cell[key]["mean"] else f"{cell[key]['mean']:.1e}"
    rows.append([f"`{cell['device.preset']}`", results.update_name(cell) if cell["crossbar.update"] == "none" else f"`{cell['crossbar.update']}`",
                 f"{cell['runs']} ({cell['failed']})", results.spread(cell["validation_loss"]),
                 results.paired([own[seed] - exact[seed] for seed in own if seed in exact], 4),
                 results.percent(cell["validation_accuracy"]), count("pulses"), count("verify_reads"), count("transfer_reads")])
body = results.table(rows) + "\n\nMean ± standard deviation over the seeds; pulses and reads of all arrays. " + results.trivial(answer["reference"])
results.write("rules", [results.shown("sweep", CONFIG, []), results.shown("sweep", CONFIG, DIGITAL, "digital")], body, commits)
