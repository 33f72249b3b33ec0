#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks as one table per program. Close other programs first; a floor is measured in the same run (bench/README.md)."""
import json
import pathlib

import results

PROGRAMS = ["nudge_bench", "nudge_bench_crossbar", "nudge_bench_update", "nudge_bench_mixers"]
BUILD = pathlib.Path(results.PROGRAM).parents[1]
SHOWN = {"floor_ms": "floor, ms", "ratio": "ratio", "ns_per_device": "ns per device",
         "ns_per_device_sample": "ns per device and sample", "peak_MB": "peak memory, MB"}
OPTIONS = ["--benchmark_min_time=0.01"] if results.SHORT else []

commits = results.noted("speed")
parts, machine = [], ""
for program in PROGRAMS:
    if not (results.ROOT / BUILD / "bench" / program).exists():
        continue
    kept = results.FOLDER / f"speed_{program}.json"
    if not kept.exists():
        kept.write_text(results.execute([str(BUILD / "bench" / program), "--benchmark_format=json"] + OPTIONS))
    answer = json.loads(kept.read_text())
    machine = f"{answer['context']['num_cpus']} processors of {answer['context']['mhz_per_cpu']} MHz"
    found = [key for key in SHOWN if any(key in one for one in answer["benchmarks"])]
    rows = [["case", "time"] + [SHOWN[key] for key in found]]
    for one in answer["benchmarks"]:
        rows.append([f"`{one['name']}`", f"{one['real_time']:.4g} {one['time_unit']}"] +
                    [f"{one[key]:.3g}" if key in one else "" for key in found])
    parts.append(f"`{program}`\n\n" + results.table(rows))
if parts:
    results.write("speed", [f"bash bench/run.sh {BUILD} --benchmark_format=json"], "\n\n".join(parts) + f"\n\nMachine: {machine}.",
                  commits)
else:
    print("speed: no benchmark was built (libbenchmark-dev)")
