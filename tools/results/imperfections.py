#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What every imperfection costs two networks that read characters on crossbars: a transformer of loops, and the founding block."""
import results

# A network, its config, and its nodes made ideal.
SAME = ["nudge.cost_current=frozen", "reads.anchor=mean 8", "reads.monitor=mean 8"]
NETWORKS = {"transformer of loops": ("examples/imperfections_loops.toml", results.SAME_READS + SAME),
            "founding block": ("examples/imperfections_block.toml", results.SAME_WAY)}
SHORT = ["train.steps=2", "train.batch=1", "train.evaluation_batches=1", "sweep.seeds=[1, 2]"]


def costs(answer):
    """Per cell of a sweep in mode one_at_a_time: what it changes, and its cells of the table."""
    baseline = answer["summary"][0]
    ideal = results.by_seed(answer, baseline)
    found = {}
    for cell in answer["summary"]:
        changed = ", ".join(f"`{k}` = {v}" for k, v in results.changes(answer, cell).items())
        loss = cell["validation_loss"]
        if not changed:
            lost = results.spread(loss, 3)
        elif cell["failed"] or baseline["failed"]:  # no mean of the seeds that are left
            lost = results.failed_rate({**loss, "median": None}, str)
        else:
            lost = results.paired_by_seed(results.by_seed(answer, cell), ideal)
        found[changed or "none (nat)"] = [lost, results.cosine(cell["cosine"]["mean"])]
    return found


commits = results.noted("imperfections")
tables, shown, titles = [], [], []
for i, (name, (config, ideal)) in enumerate(NETWORKS.items()):
    both = [results.study("sweep", config, f"imperfections_{i}{kind}", more, SHORT) for kind, more in (("", []), ("_ideal", ideal))]
    text = both[0]["text"]
    physical, other = (costs(answer) for answer in both)
    tables.append({key: [physical[key][0], other[key][0], physical[key][1], other[key][1]] for key in physical})
    titles += [f"{name}: lost, nat", "ideal nodes", "cosine", "ideal nodes"]
    shown += [results.shown("sweep", config, []), results.shown("sweep", config, ideal, "ideal")]
rows = [["imperfection"] + titles] + [[changed] + [word for table in tables for word in table.get(changed, ["–"] * 4)] for changed in tables[0]]
body = results.table(rows) + ("\n\nFirst line: validation loss, nat per character, mean ± standard deviation over five seeds. Below: what is lost "
                              "against it, paired by seed. ") + results.lines(text)
results.write("imperfections", shown, body, commits)
