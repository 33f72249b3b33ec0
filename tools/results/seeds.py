#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The five founding documents, claim by claim: what they say, what is measured here, and what became of it (docs/seeds.md).

Rows come from seeds_rows.py. What a row measures is run and kept in results/seeds/, so that a killed script goes on where it was:
tests of build/release/tests, sweeps and comparisons of nudge, and numbers that stand in other documents with their commands.
"""
import hashlib
import json
import pathlib
import re
import subprocess

import results
import seeds_rows

KEPT = results.FOLDER / "seeds"
VERDICTS = ("reproduced in part", "reproduced where", "reproduced", "refuted", "not seen", "out of reach", "not run")


def kept(key, make):
    """The answer of make(), from results/seeds/ where it was made before."""
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / (re.sub(r"[^a-z0-9]+", "_", key.lower())[:60] + "_" + hashlib.sha256(key.encode()).hexdigest()[:8] + ".json")
    if not path.exists():
        path.write_text(json.dumps(make()))
    return json.loads(path.read_text())


def tested(folder, names):
    """Whether the tests of a folder whose names begin so pass, and how many assertions they hold."""
    program = results.ROOT / "build/release/tests" / folder / f"nudge_tests_{folder}"
    if not program.exists():
        return {"passed": None}

    def run():
        done = subprocess.run([str(program), ",".join(name.replace(",", "\\,") + "*" for name in names)], cwd=results.ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        count = re.search(r"All tests passed \((\d+) assertion", done.stdout)
        return {"passed": done.returncode == 0 and count is not None, "assertions": int(count[1]) if count else 0}
    return kept(f"test {folder} {names}", run)


def cell(document, section, row, column):
    """A number that stands in a table of another document: row and column by how their headings begin."""
    text = (results.ROOT / document).read_text()
    part = text.split(f"## {section}", 1)
    if len(part) == 1:
        raise SystemExit(f"{document} has no section {section}")
    for table in [lines_to_cells(block) for block in re.findall(r"(?:^\|.*\n)+", re.split(r"\n## ", part[1])[0] + "\n", flags=re.M)]:
        head = table[0]
        at = [i for i, name in enumerate(head) if name.startswith(column)]
        for begins in (str.__eq__, str.startswith):  # the very heading before one that begins so
            for cells in table[2:]:
                if at and any(begins(c, row) for c in cells[:2]):
                    return cells[at[0]]
    raise SystemExit(f"{document}, {section}: no cell {row} / {column}")


def lines_to_cells(block):
    return [[c.strip().replace("`", "") for c in line.strip().strip("|").split("|")] for line in block.strip().split("\n")]


def measured(row):
    """Ours, and the verdict where that follows from it."""
    source = row["ours"]
    if isinstance(source, str):
        return source, row["verdict"]
    kind, *of = source
    if kind == "test":
        answer = tested(*of)
        if answer["passed"] is None:
            return "not built", "not run"
        return (f"holds ({answer['assertions']} assertions)" if answer["passed"] else "fails",
                row["verdict"] if answer["passed"] else "the test fails")
    if kind == "cells":
        return ", ".join(f"{label} {cell(*place)}" for label, *place in of[0]), row["verdict"]
    if kind == "computed":
        answer = kept(f"computed {row['item']}", of[0])
        return answer["ours"], row["verdict"] if answer["holds"] else "refuted"
    if kind == "compare":
        return compared(*of), row["verdict"]
    if kind == "mad":
        return mad(*of), row["verdict"]
    if kind == "sweep":
        return swept(*of), row["verdict"]
    raise SystemExit(f"unknown source {kind}")


def swept(config, name, settings, short, key, metric):
    """A metric of every cell of a sweep, mean ± standard deviation over its seeds."""
    answer = results.study("sweep", config, name, settings, short)
    return ", ".join(f"{one[key]} {results.spread(one[metric], 3)}" for one in answer["summary"])


# Those of examples/mad.toml; compression at its published 32 tokens; memorization at its published size.
ONE_THREAD = ["threads=1", "sweep.seeds=[1, 2]"]
COMPRESSION = ["task.kind=compression", "model.tokens=32", 'sweep.grid.task.kind=["compression"]']
MAD = {"compress": ("mad", COMPRESSION, None), "fuzzy": ("mad", [], "fuzzy_recall"), "in context": ("mad", [], "in_context_recall"),
       "memorize": ("memorization", [], None), "noisy": ("mad", [], "noisy_recall"), "copy": ("mad", [], "selective_copy")}


def mad(mixer):
    """Accuracies of a mixer in the tasks of the MAD suite, seed by seed."""
    texts = []
    for label, (example, settings, task) in MAD.items():
        name = "_".join(["seeds_mad", mixer] + ([] if example == "mad" and not settings else [label]))
        answer = results.study("sweep", f"examples/{example}.toml", name, settings + [f'sweep.grid.sequence.mixer=["{mixer}"]'] + ONE_THREAD,
                               ["train.steps=5", "train.evaluate_every=5"])
        own = [p for p in answer["points"] if task in (None, p.get("task.kind"))]
        texts.append(f"{label} " + " / ".join(f"{100 * p['validation_accuracy']:.3g}" if p["status"] == "ok" else "failed"
                                              for p in sorted(own, key=lambda p: p["seed"])))
    return ", ".join(texts)


def compared(config, name, settings, short):
    """Test losses of a comparison, and paired differences with their intervals against the first entrant."""
    answer = results.study("compare", config, name, settings, short)
    metric = "test_accuracy" if "test_accuracy" in answer["entrants"][0] else "test_loss"
    texts = []
    for one in answer["entrants"]:
        value = results.percent(one[metric]) if metric == "test_accuracy" else results.spread(one[metric], 3)
        against = "" if one is answer["entrants"][0] else f" ({results.difference(one['difference'], 1, 3)} nat)"
        texts.append(f"{one['name']} {value}{against}")
    return "; ".join(texts)


def main():
    commits = results.noted("seeds")
    counts = {}
    body = []
    for title, rows in seeds_rows.DOCUMENTS:
        lines = [["what", "published", "ours", "command, seeds", "verdict"]]
        for row in rows:
            ours, verdict = measured(row)
            kind = next((one for one in VERDICTS if verdict.startswith(one)), verdict)
            counts[kind] = counts.get(kind, 0) + 1
            lines.append([row["item"], row["published"], ours, row["command"], verdict])
        body.append(f"## {title}\n{results.table(lines)}")
    total = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), key=lambda one: -one[1]))
    results.write("seeds", ["make results TABLES=seeds"], f"{sum(counts.values())} rows: {total}.\n\n" + "\n\n".join(body), commits,
                  "docs/seeds.md")


if __name__ == "__main__":
    main()
