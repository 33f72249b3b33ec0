# SPDX-License-Identifier: Apache-2.0
"""What a training of very many steps takes as it goes on: memory, file and speed, of a network so small that what is
kept of the steps is most of it. Prints the table of results/reliability.md.

    python3 tools/torture/growth.py --steps 1000000
    python3 tools/torture/growth.py --nudge OTHER/apps/nudge --steps 100000
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

EVERY = 500  # steps between two lines of progress, from which the table is made
CONFIG = f"""threads = 1
[task]
kind = "classification"
[data]
file = "two.csv"
[network]
kind = "hopfield"
[hopfield]
hidden = [4]
[train]
batch = 1
learning_rate = 1e-4
evaluate_every = 100
evaluation_batches = 1
checkpoint_every = {EVERY}
[relaxation]
free_steps = 8
nudged_steps = 8
[output]
print_every = {EVERY}
"""


def resident_kB(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))


def processor_seconds(pid):
    """Others on the machine do not count."""
    times = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def marks_up_to(steps):
    mark, marks = 1000, []
    while mark < steps:
        marks.append(mark)
        mark *= 10
    return marks + [steps]


def measure(nudge, steps, settings, folder):
    """(steps, resident kB, bytes of the file, steps per second of the processor over the last half) at 1000, 10000, … steps."""
    (folder / "two.csv").write_text("".join(f"{i % 2},{i % 2 + .01 * (i * 7 % 13)},{i % 2 - .01 * (i * 5 % 11)}\n" for i in range(60)))
    (folder / "tiny.toml").write_text(CONFIG)
    marks, out, rows, half = marks_up_to(steps), folder / "run.h5", [], None
    command = [str(nudge), "train", "tiny.toml", "--out", "run.h5", "--log-format", "json",
               "--set", f"train.steps={steps + EVERY}",  # at the last mark it still runs
               *(word for setting in settings for word in ("--set", setting))]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in run.stderr:
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("event") != "step" or event["done"] > steps:
            continue
        done = event["done"]
        clock = processor_seconds(run.pid)
        if half is None or done <= marks[len(rows)] // 2:
            half = (done, clock)
        if done == marks[len(rows)]:
            size = out.stat().st_size if out.exists() else 0
            rate = (done - half[0]) / (clock - half[1]) if clock > half[1] else float("nan")
            rows.append((done, resident_kB(run.pid), size, rate))
    if run.wait() != 0 or len(rows) != len(marks):
        sys.exit(f"growth: {' '.join(command)} ended with {run.returncode} after {len(rows)} of {len(marks)} marks")
    return rows


def table(rows):
    lines = ["| steps | resident memory (MB) | file (MB) | steps per second of a core |", "|---|---|---|---|"]
    return "\n".join(lines + [f"| {done} | {kB / 1000:.1f} | {size / 1e6:.2f} | {rate:.0f} |" for done, kB, size, rate in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000, help=f"a multiple of {2 * EVERY}")
    parser.add_argument("--nudge", type=pathlib.Path, default=pathlib.Path(__file__).parents[2] / "build/release/apps/nudge")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the config beside, such as output.log_rows=1000")
    arguments = parser.parse_args()
    if arguments.steps < 1 or arguments.steps % (2 * EVERY):
        parser.error(f"--steps must be a multiple of {2 * EVERY}")
    with tempfile.TemporaryDirectory() as folder:
        print(table(measure(arguments.nudge.resolve(), arguments.steps, arguments.set, pathlib.Path(folder))))


if __name__ == "__main__":
    main()
