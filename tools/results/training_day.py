#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an epoch of 57,000 pictures takes on exact numbers and on ecram with its physics: time of steps, from runs of two lengths in turn, and memory."""
import json
import os
import subprocess
import sys
import tempfile

import results

CONFIG = "examples/fashion.toml"
FILES = "/usr/share/datasets/fashion-mnist"  # of Debian's package; named, so that no test part is evaluated at the end
COMMON = [f"data.file={FILES}/train-images-idx3-ubyte.gz", f"data.labels={FILES}/train-labels-idx1-ubyte.gz", "train.null=off", "task.references=off",
          "train.evaluate_every=end", "data.validation_samples=48", "data.test_fraction=0", "threads=1"]
NETWORKS = {"hopfield 784-2048-10": ["hopfield.hidden=[2048]"],
            "convolutional 32 + 64": ["network.kind=convolutional", "convolutional.maps=[32,64]", "convolutional.kernel=[5]", "convolutional.pool=[2]",
                                      "data.shape=[28,28]", "hopfield.hidden=[]"]}

DEVICES = {"exact numbers": [], "`ecram`, its physics": ["device.preset=ecram"]}
BATCH, EPOCH = 16, 3563
SHORT, LONG, ROUNDS = (2, 4, 1) if results.SHORT else (10, 60, 3)

def once(settings, steps):
    """Processor time in seconds and peak memory in MB of one run."""
    with tempfile.TemporaryDirectory() as folder:
        words = [results.PROGRAM, "train", CONFIG, "--out", f"{folder}/run.h5", "--json", "--set", f"train.steps={steps}"]
        words += [word for one in COMMON + settings for word in ("--set", one)]
        child = subprocess.Popen(words, cwd=results.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, status, used = os.wait4(child.pid, 0)
        if status != 0:
            sys.exit(f"{' '.join(words)}: {child.stderr.read().decode()[-300:]}")
        return used.ru_utime, used.ru_maxrss / 1024

def measured():
    kept = results.FOLDER / "training_day" / "runs.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    if kept.exists():
        return json.loads(kept.read_text())
    found = {}
    for _ in range(ROUNDS):
        for network, own in NETWORKS.items():
            for devices, more in DEVICES.items():
                short, long = once(own + more, SHORT), once(own + more, LONG)
                found.setdefault(f"{network}|{devices}", []).append([(long[0] - short[0]) / (LONG - SHORT), long[1], short[0]])
    kept.write_text(json.dumps(found))
    return found

def main():
    commits = results.noted("training_day")
    found = measured()
    rows = [["network", "weights", "a step of 16 pictures, ms", "against exact numbers", "an epoch of 57,000, minutes", "20 epochs, hours", "memory, MB"]]
    for network in NETWORKS:
        exact = None
        for devices in DEVICES:
            runs = found[f"{network}|{devices}"]
            step = min(one[0] for one in runs)
            exact = exact or step
            rows.append([network, devices, f"{1000 * step:.3g}", f"{step / exact:.2g}", f"{step * EPOCH / 60:.2g}", f"{20 * step * EPOCH / 3600:.2g}",
                         f"{max(one[1] for one in runs):.0f}"])
    commands = [results.shown("train", CONFIG, COMMON + own + more + [f"train.steps={LONG}"], "day") for own in NETWORKS.values() for more in DEVICES.values()]
    body = results.table(rows) + (f"\n\nProcessor time of one thread: the least of {ROUNDS} differences between runs of {LONG} and of {SHORT} steps, in turn. Without evaluations "
                                  "and baseline runs.")
    results.write("training_day", commands, body, commits)

if __name__ == "__main__":
    main()
