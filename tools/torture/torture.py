# SPDX-License-Identifier: Apache-2.0
"""Kills runs of nudge at random moments and takes away what they need: does anything get lost? results/reliability.md has the table.

    python3 tools/torture/torture.py --nudge build/release/apps/nudge --kills 1000 --seed 1
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import sys
import tempfile
import time

import processes

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 0  # with a line "SKIPPED:", which ctest looks for


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nudge", default=str(ROOT / "build/release/apps/nudge"), help="the program")
    parser.add_argument("--kills", type=int, default=1000, help="SIGKILLs over all kinds of work")
    parser.add_argument("--seconds", type=float, default=3600,
                        help="no new kill after so long, of which every kind of work has a share")
    parser.add_argument("--seed", type=int, default=None, help="of the moments of the kills; default: the clock")
    parser.add_argument("--folder", default="/dev/shm" if os.access("/dev/shm", os.W_OK) else None,
                        help="where the runs lie; memory by default: a kill leaves what was written, on any disk")
    parser.add_argument("--at-once", type=int, default=len(os.sched_getaffinity(0)),
                        help="kinds of work under way at a time")
    parser.add_argument("--only", default="", help="only kinds of work whose name contains this text")
    parser.add_argument("--faults", action="store_true", help="the other faults too")
    parser.add_argument("--write", default="", help="document whose sections `kills` and `faults` are replaced")
    return parser.parse_args()


def main():
    options = arguments()
    if not processes.has_h5py():
        return SKIPPED
    import faults
    import kills
    import tables
    import works
    nudge = str(pathlib.Path(options.nudge).resolve())
    seed = options.seed if options.seed is not None else time.time_ns() % 2**31
    print(f"seed {seed}", flush=True)
    known = [w for w in works.WORKS if options.only in w.name]
    if not works.has_ranks(nudge):
        print("without the runs of mpirun, which is not installed or not known to this nudge")
        known = [w for w in known if not w.ranks]
    start = time.monotonic()
    checks = []
    with tempfile.TemporaryDirectory(prefix="nt", dir=options.folder) as folder:
        share = -(-options.kills // len(known))

        def one(numbered):
            number, work = numbered
            rounds = -(-(len(known) - number) // options.at_once)  # of kinds side by side, with this one
            now = time.monotonic()
            deadline = now + (start + options.seconds - now) / rounds
            tally = kills.torture(work, nudge, folder, random.Random(f"{seed} {work.name}"), share, deadline)
            print(tables.kill_line(tally), flush=True)
            return tally

        with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
            tallies = list(pool.map(one, enumerate(known)))
        if options.faults or options.write:
            for name, fault in faults.FAULTS:
                checks.append(faults.checked(name, fault, nudge, pathlib.Path(folder)))
                print(tables.fault_line(checks[-1]), flush=True)
    if options.write:
        tables.write(options.write, tallies, checks, seed, options)
    problems = [p for t in tallies for p in t.problems] + [f"{c.name}: {c.problem}" for c in checks if c.problem]
    print(tables.summary(tallies, checks, time.monotonic() - start), flush=True)
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
