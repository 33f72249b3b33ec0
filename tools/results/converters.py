#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which converters keep the gradient while the circuit is nudged?"""
import results

CONFIG = "examples/converters.toml"
DRIVES = {"state": "z", "difference": "z − z*"}
FIXED = [f"crossbar.{way}_{kind}_range={full}" for way in ("forward", "transposed") for kind, full in (("dac", 4), ("adc", 8))]
SHORT = ["gradcheck.train_steps=2", "train.batch=1", "model.tokens=8"]


def bits_of(bits):
    return [f"crossbar.{way}_{kind}_bits={bits}" for way in ("forward", "transposed") for kind in ("dac", "adc")]


commits = results.noted("converters")
widths = [6, 8] if results.SHORT else [6, 8, 12]
nodes = {"physical": [], "ideal": results.SAME_WAY}
rows = [["range", "arrays see", "nodes"] + [f"{b} bits" for b in widths]]
for title, fixed in (("follows the signal", []), ("fixed", FIXED)):
    answers = {kind: [results.study("sweep", CONFIG, f"converters_{'fixed' if fixed else 'auto'}_{b}_{kind}", bits_of(b) + fixed + level, SHORT)
                      for b in widths] for kind, level in nodes.items()}
    for drive, sees in DRIVES.items():
        for kind in nodes:
            rows.append([title, sees, kind] + [", ".join(results.cosine(results.number(c["cosine"])) for c in a["summary"]
                                                         if c["nudge.drive"] == drive) for a in answers[kind]])
betas = list(dict.fromkeys(cell["beta"] for cell in answers["ideal"][0]["summary"]))
body = results.table(rows) + ("\n\nCosine with the device's exact gradient, all parameters of the equilibrium as one vector, mean over the seeds, at "
                              f"β = {', '.join(betas)}.")
results.write("converters", [results.shown("sweep", CONFIG, bits_of("BITS")),
                             results.shown("sweep", CONFIG, bits_of("BITS") + FIXED, "fixed"),
                             results.shown("sweep", CONFIG, bits_of("BITS") + results.SAME_WAY, "ideal")], body, commits)
