# SPDX-License-Identifier: Apache-2.0
"""Is a table older than the last change of what it measures?

    probe.py --keep SCRIPT ...    runs the shortened form of a script twice, and keeps what both say in the files of its tables
    probe.py --check [SCRIPT ...] runs it once, and fails where a kept cell has changed: that table must be measured again
A cell that differs between two runs of one program (a time) says nothing and is left out. `make results` keeps, `make results-age` checks.
"""
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import sections

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
# Another processor or oneDNN moves a shortened run by rounding alone. It has few steps, so that two in a hundred is far beyond that.
RELATIVE = 0.02


def alike(one, other):
    """Whether two cells are equal but for rounding: the same words, numbers within 2 % or one unit of their last digit."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    near = lambda a, b: abs(float(a) - float(b)) <= max(RELATIVE * abs(float(a)), unit(a), unit(b)) * (1 + 1e-9)
    return all(near(a, b) for a, b in zip(NUMBER.findall(one), NUMBER.findall(other)))


def unit(text):
    """Worth of the last digit of a written number."""
    mantissa, _, exponent = text.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def cells(result):
    """Cells of the tables of a results file, in their order."""
    rows = [block["rows"] for section in result["sections"] for block in section["content"] if not isinstance(block, str)]
    return [cell for table in rows for row in table for cell in row]


def common(one, other):
    """Cells that two runs agree on; None stands for the others."""
    return [a if a is not None and b is not None and alike(a, b) else None for a, b in itertools.zip_longest(one, other)]


def run(script):
    """Cells of every table that a shortened run of a script writes, by table."""
    with tempfile.TemporaryDirectory(prefix="probe_", dir=sections.ROOT / "results") as folder:
        done = subprocess.run([sys.executable, f"tools/results/{script}.py"], cwd=sections.ROOT, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=os.environ | {"RESULTS_SHORT": "1", "RESULTS_FOLDER": folder})
        if done.returncode != 0:
            sys.exit(f"tools/results/{script}.py: the shortened run ended with {done.returncode}; run it by hand: make results-short TABLES={script}")
        return {path.stem: cells(json.loads(path.read_text())) for path in sorted(pathlib.Path(folder, "results").glob("*.json"))}


def keep(script, root=sections.ROOT):
    first, second = run(script), run(script)
    for name in first:
        path = root / "results" / f"{name}.json"
        if path.exists():
            sections.save(name, json.loads(path.read_text()) | {"probe": common(first[name], second.get(name, []))}, path.parent)


def changed(then, now):
    """What has changed since, as text; empty where nothing has."""
    pairs = [(a, b) for a, b in itertools.zip_longest(then, now, fillvalue="nothing") if a is not None]
    other = [(a, b) for a, b in pairs if not alike(a, b)]
    return f"{len(other)} of {len(pairs)} cells of its shortened run, the first from {other[0][0]} to {other[0][1]}" if other else ""


def check(script, root=sections.ROOT):
    """Says of each table of a script whether it is as the program is; returns the number of those that are older."""
    old = 0
    for name, now in run(script).items():
        path = root / "results" / f"{name}.json"
        kept = json.loads(path.read_text()).get("probe") if path.exists() else None
        found = "" if kept is None else changed(kept, now)
        told = f"older than the program: {found}. Measure it again: make results TABLES={script}" if found else "as the program is"
        print(f"{name}: {'not known: no shortened run was kept' if kept is None else told}", flush=True)
        old += found != ""
    return old


def main(arguments):
    scripts = arguments[1:]
    if arguments[:1] == ["--keep"]:
        for script in scripts:
            keep(script)
    elif arguments[:1] == ["--check"]:
        if sum([check(script) for script in scripts]):
            sys.exit(1)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
