#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When does plain EP stop working? The antisymmetric gain of a coupling is raised (results/crossbars.md)."""
import results

CONFIG = "examples/sweep_reciprocity.toml"
GAIN = "model.coupling_antisymmetric"

commits = results.noted("reciprocity")
answer = results.study("sweep", CONFIG, "reciprocity", [], ["sweep.seeds=[1]"])
of = lambda name: {c[GAIN]: c for c in answer["summary"] if c["estimator"] == name}
plain, corrected = of("ep_anchored"), of("aep_anchored")
rows = [["A", "cosine, EP", "relative error, EP", "relative error, AEP"]]
for gain in plain:
    rows.append([gain, results.spread(plain[gain]["cosine"], 3), f"{plain[gain]['relative_l2']['mean']:.2g}",
                 f"{corrected[gain]['relative_l2']['mean']:.0e}"])
results.write("reciprocity", [results.shown("sweep", CONFIG, [])], results.table(rows), commits, "results/crossbars.md")
