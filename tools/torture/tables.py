# SPDX-License-Identifier: Apache-2.0
"""The results as lines, as Markdown and in the marked sections of results/reliability.md."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "results"))
import results  # noqa: E402

ZERO = ("lost", "different", "other")


def kill_line(t):
    return (f"{t.name}: {t.kills} kills ({t.resumed} while resuming, {t.one_rank} of one rank), {t.chains} runs to the end; "
            f"{t.lost} checkpoints lost, {t.different} with other bits, {t.other} other problems; {t.seconds:.2f} s a run"
            + (f"; mpirun itself hung {t.mpirun} times, its ranks had ended" if t.mpirun else ""))


def fault_line(c):
    return f"{c.name}: {c.seen}"


def summary(tallies, checks, seconds):
    tried = [c for c in checks if not c.seen.startswith("not tried")]
    return (f"{sum(t.kills for t in tallies)} kills, {sum(t.lost for t in tallies)} checkpoints lost, "
            f"{sum(t.different for t in tallies)} of {sum(t.chains for t in tallies)} ends with other bits, "
            f"{sum(t.other for t in tallies)} other problems; {sum(not c.problem for c in tried)} of {len(tried)} faults as "
            f"expected, {len(checks) - len(tried)} not tried; {seconds:.0f} s")


def kills_table(tallies):
    rows = ["| run | takes (s) | kills | while resuming | of one rank | runs to the end | checkpoints lost | other bits | other problems |",
            "|---|---|---|---|---|---|---|---|---|"]
    for t in tallies:
        rows.append(f"| {t.name} | {t.seconds:.2f} | {t.kills} | {t.resumed} | {t.one_rank} | {t.chains} | {t.lost} | "
                    f"{t.different} | {t.other} |")
    sums = [sum(getattr(t, what) for t in tallies) for what in ("kills", "resumed", "one_rank", "chains", *ZERO)]
    return "\n".join(rows + ["| **all** | | " + " | ".join(f"**{s}**" for s in sums) + " |"])


def faults_table(checks):
    return "\n".join(["| fault | what happens |", "|---|---|"] + [f"| {c.name} | {c.seen} |" for c in checks])


def write(path, tallies, checks, seed, options):
    """Keeps both tables as results files and renders them into the document."""
    command = f"python3 tools/torture/torture.py --kills {options.kills} --seed {seed}"
    for name, table in (("kills", kills_table(tallies)), ("faults", faults_table(checks))):
        results.write(name, [command], table, [results.commit()], path)
