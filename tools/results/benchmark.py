#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every preset in nudge benchmark: writes results/benchmark/DEVICE.short.json and DEVICE.full.json, the zoo that is compiled into the program.

    benchmark.py [short|full ...] [DEVICE ...]     without a word: the short benchmark of every preset, minutes each

Killed, it goes on where it was; a device whose file is there is not run again. Environment, beside that of results.py:
LETTER (folder of LetterRecognition.rda, where r-cran-mlbench is not installed).
"""
import json
import os
import sys

import results

ZOO = results.FOLDER / "benchmark"
LARGEST = 1_000_000  # bytes of all files: they are compiled into the program
TOY = ["data.file=", "data.test_fraction=0.2", "hopfield.hidden=[8]", "train.steps=5", "compare.test_seeds=[11, 12]", "compare.grid.train.learning_rate=[4e-3]"]


def presets():
    return [one["name"] for one in json.loads(results.execute([results.PROGRAM, "devices", "list", "--json"]))["presets"]]


def run(device, protocol):
    """Runs or resumes a device; keeps its result."""
    kept, folder = ZOO / f"{device}.{protocol}.json", results.FOLDER / "benchmark_runs" / f"{device}.{protocol}"
    if kept.exists():
        return
    command = [results.PROGRAM, "benchmark", device, "--resume" if folder.exists() else "--out", str(folder), "--json"]
    command += ["--short"] if protocol == "short" else []
    settings = (TOY if results.SHORT else []) + ([f"data.folder={os.environ['LETTER']}"] if "LETTER" in os.environ else [])
    folder.parent.mkdir(parents=True, exist_ok=True)
    results.execute(command + [word for s in settings for word in ("--set", s)], accepted=(0, 3))
    written = folder / f"{device}.json"
    if not written.exists():
        sys.exit(f"{device}: interrupted; run the script again to go on")
    ZOO.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(written.read_bytes())


def main(arguments):
    protocols = [one for one in arguments if one in ("short", "full")] or ["short"]
    devices = [one for one in arguments if one not in ("short", "full")] or presets()
    if results.SHORT:
        devices = devices[:1]
    for protocol in protocols:
        for device in devices:
            run(device, protocol)
    size = sum(path.stat().st_size for path in ZOO.glob("*.json"))
    if size > LARGEST:
        sys.exit(f"{ZOO}: {size} bytes, more than {LARGEST}")
    print(f"{ZOO}: {size} bytes; rebuild the program to rank among them")


if __name__ == "__main__":
    main(sys.argv[1:])
