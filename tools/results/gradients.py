#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every estimator against the exact adjoint at C=128, M=512, T=64, mild and sharp attention."""
import results

CONFIG = "examples/shakespeare_large.toml"
COMMON = ["precision=double", "train.batch=4", "relaxation.free_steps=30", "relaxation.nudged_steps=30",
          'gradcheck.estimators=["all"]']
SHARP = ["model.attention_scale=1", "model.output_scale=1"]
SHORT = ["data.text=", "model.channels=16", "model.tokens=8", "model.memories=16", "train.batch=1",
         "gradcheck.finite_difference_entries=1"]


def found(answer, estimator):
    return next(r for r in answer["rows"] if r["estimator"] == estimator and r["group"] == "all")


commits = results.noted("gradients")
mild = results.check(CONFIG, "gradients_mild", COMMON, SHORT)
sharp = results.check(CONFIG, "gradients_sharp", COMMON + SHARP, SHORT)
rows = [["estimator", "cosine", "relative L2", "cosine, sharp", "relative L2, sharp", "forces"]]
for row in [r for r in mild["rows"] if r["group"] == "all"]:
    other = found(sharp, row["estimator"])
    rows.append([f"`{row['estimator']}`", results.cosine(row["cosine"]), f"{row['relative_l2']:.2e}",
                 results.cosine(other["cosine"]), f"{other['relative_l2']:.2e}", f"{row['force_evaluations']:.0f}"])
groups = ", ".join(f"{r['group']} {results.cosine(r['cosine'])}" for r in sharp["rows"]
                   if r["estimator"] == "ep" and r["group"] != "all")
facts = [a["diagnostics"] for a in (mild, sharp)]
body = results.table(rows) + (
    f"\n\nAll equilibrium parameters as one vector. Plain EP per group in the sharp case: {groups}. |Jv − Jᵀv|/|Jv| is "
    f"{facts[0]['asymmetry']:.2f} and {facts[1]['asymmetry']:.2f}, the spectral abscissa {facts[0]['abscissa']:.2f}/τ and "
    f"{facts[1]['abscissa']:.2f}/τ. `finite_difference` compares {facts[0]['finite_difference_entries']} entries of the loss's "
    "central difference.")
results.write("gradients", [results.shown("gradcheck", CONFIG, COMMON), results.shown("gradcheck", CONFIG, COMMON + SHARP)],
              body, commits)
