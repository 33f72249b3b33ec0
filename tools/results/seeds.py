#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The five founding documents, claim by claim: what they say, what is measured here, and what became of it (results/seeds.md).

Rows come from seeds_rows.py. What a row measures is run and kept in results/seeds/, so that a killed script goes on where it was:
tests of build/release/tests, sweeps and comparisons of nudge, and numbers that stand in other documents with their commands.
`seeds.py --check` runs the closed forms alone and holds the claims, verdicts and counts of results/seeds.md against the rows.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys

import results
import seeds_rows

KEPT = results.FOLDER / "seeds"
PAGE = "results/seeds.md"
HEAD = ["claim, with its conditions", "measured here", "where it holds", "command, seeds", "verdict"]


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


def cell(document, section, row, column, which=None):
    """A number that stands in a table of another document: row and column by how their headings begin; which of several in its cell."""
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
                    text = cells[at[0]] if which is None else cells[at[0]].split(", ")[which]
                    return re.sub(r"(?<![\d.])\.(?=\d)", "0.", text)
    raise SystemExit(f"{document}, {section}: no cell {row} / {column}")


def lines_to_cells(block):
    return [[c.strip().replace("`", "") for c in line.strip().strip("|").split("|")] for line in block.strip().split("\n")]


def formed(row):
    """The numbers of a closed form; ends the script where they do not bear out the verdict of its row."""
    answer = row["ours"][1]()
    if not answer["holds"]:
        sys.exit(f"seeds_rows.py, {row['claim']}: measured {answer['ours']}, which does not bear out the verdict \"{row['verdict']}\". Correct the row.")
    return re.sub(r"e([+-])0(\d)", r"e\1\2", answer["ours"])


def measured(row):
    """Ours, and the verdict: that of the row, unless its test could not be run."""
    source = row["ours"]
    if isinstance(source, str):
        return source, row["verdict"]
    kind, *of = source
    if kind == "test":
        answer = tested(*of)
        if answer["passed"] is None:
            return "not built", "not run"
        if not answer["passed"]:
            sys.exit(f"{row['command']}: a test of \"{row['claim']}\" fails. Correct the program or the row, remove results/seeds and run this again.")
        return f"tested ({answer['assertions']} assertions)", row["verdict"]
    measure = {"cells": lambda places: ", ".join(f"{label} {cell(*place)}" for label, *place in places), "computed": lambda _: formed(row),
               "compare": compared, "mad": mad}
    return measure[kind](*of), row["verdict"]


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


def counted(verdicts):
    """The table of verdicts: how many rows have each, and what it says."""
    return results.table([["verdict", "rows", "what it says"]] +
                         [[name, verdicts.count(name), says] for name, says in seeds_rows.VERDICTS.items() if name in verdicts])


def check():
    """Holds the page against the rows: claims, where they hold, verdicts, their counts, and the closed forms."""
    text = (results.ROOT / PAGE).read_text()
    printed = [line.strip().strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    printed = [[cells[0].strip(), cells[2], cells[-1].strip()] for cells in printed if len(cells) == len(HEAD) and cells[0].strip() != HEAD[0]]
    rows = [row for _, _, rows in seeds_rows.DOCUMENTS for row in rows]
    for row in rows:
        if row["verdict"] not in seeds_rows.VERDICTS:
            sys.exit(f"seeds_rows.py, {row['claim']}: \"{row['verdict']}\" is no verdict. Take one of VERDICTS.")
        if row["ours"][0] == "computed":
            formed(row)
    stated = [[row["claim"], row["where"], row["verdict"]] for row in rows]
    odd = [one for one in stated if one not in printed] + [one for one in printed if one not in stated]
    if odd or counted([verdict for *_, verdict in printed]) not in text:
        sys.exit(f"{PAGE} is not what seeds_rows.py says{': ' + odd[0][0] if odd else ' (counts of verdicts)'}. Run make results TABLES=seeds.")
    print(f"{PAGE}: {len(rows)} rows as in seeds_rows.py")


def main():
    commits = results.noted("seeds")
    verdicts, body = [], []
    for title, note, rows in seeds_rows.DOCUMENTS:
        lines = [HEAD]
        for row in rows:
            ours, verdict = measured(row)
            verdicts.append(verdict)
            lines.append([row["claim"], ours, row["where"], row["command"], verdict])
        body.append("\n".join([f"## {title}"] + ([note, ""] if note else []) + [results.table(lines)]))
    results.write("seeds", ["make results TABLES=seeds"], f"{len(verdicts)} rows:\n\n{counted(verdicts)}\n\n" + "\n\n".join(body), commits, PAGE)


if __name__ == "__main__":
    check() if sys.argv[1:] == ["--check"] else main()
