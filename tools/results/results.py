# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: resumable runs of nudge, Markdown, and tables as data.

write() keeps a table as results/NAME.json and renders it into its document (sections.py).
    results.py --render [NAME ...]   writes the documents from the files, all or those named
    results.py --check               fails where a document, a file and the configs of examples/ do not agree: a test, with no run
Environment: NUDGE (the program), RESULTS_SHORT=1 (a smoke test: shortened runs in results/short or RESULTS_FOLDER, documents copied there).
"""
import csv
import datetime
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import intervals
import sections
from sections import ROOT, table  # noqa: F401 (for the scripts)

PROGRAM = os.environ.get("NUDGE", "build/release/apps/nudge")
SHORT = os.environ.get("RESULTS_SHORT", "") not in ("", "0")
FOLDER = pathlib.Path(os.environ.get("RESULTS_FOLDER") or ROOT / "results" / ("short" if SHORT else ""))
TEXT = "data.text=../shared/data/tinyshakespeare.txt"


def execute(arguments, accepted=(0,)):
    """Runs a command in the project's root; progress stays visible, standard output comes back. Ends the script when it fails: another exit code than those accepted."""
    done = subprocess.run(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in accepted:
        sys.exit(f"{' '.join(arguments)}: exit {done.returncode}; run the script again to go on")
    return done.stdout


def commit():
    """The commit that is measured; "+" where the working tree differs from it outside docs/, README.md and results/."""
    name = execute(["git", "rev-parse", "--short", "HEAD"]).strip()
    changed = execute(["git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs", ":!README.md", ":!results"]).strip()
    return name + ("+" if changed else "")


def noted(name):
    """Adds the present commit to those that runs of this name were measured with, and returns them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    note = FOLDER / f"{name}.commits"
    known = note.read_text().split() if note.exists() else []
    if commit() not in known:
        note.write_text("\n".join(known + [commit()]) + "\n")
    return note.read_text().split()


def shown(command, config, settings, out=""):
    """The command as a reader would type it; `out`: name of the file, when it is not that of the config."""
    file = f"--out {out or pathlib.Path(config).stem}.h5"
    words = [f"nudge {command} {config}", "--json" if command == "gradcheck" else file]
    words += [f"--set '{s}'" if re.search(r"[\[ \"]", s) else f"--set {s}" for s in settings]
    return " ".join(words)


def study(command, config, name, settings=(), short=()):
    """A sweep or comparison: started, or taken up where it was. Returns its JSON."""
    options = list(settings) + (list(short) if SHORT else [])
    out = FOLDER / f"{name}.h5"
    FOLDER.mkdir(parents=True, exist_ok=True)
    answer = json.loads(execute([PROGRAM, command, config, "--resume" if out.exists() else "--out", str(out), "--json"] +
                                [word for s in options for word in ("--set", s)]))
    if answer["interrupted"]:
        sys.exit(f"{name}: interrupted; run the script again to go on")
    return answer


def exported(out):
    """The tables of a results file by name, each a list of rows by column, as text: also of a sweep that is under way."""
    with tempfile.TemporaryDirectory() as folder:
        execute([PROGRAM, "export", str(out), "--csv", folder + "/csv"])
        return {path.stem: list(csv.DictReader(path.read_text().splitlines())) for path in pathlib.Path(folder, "csv").glob("*.csv")}


def commits_of(facts):
    """The commit of the program that wrote a file, by its attributes; "+" where the tree differed from it."""
    found = re.search(r"\(([0-9a-f]+)(-dirty)?\)", facts.get("nudge_version", ""))
    return [found[1] + ("+" if found[2] else "")] if found else []


def settings_of(config):
    """What a file of a device sets, as --set has it."""
    section, found = "", []
    for line in pathlib.Path(config).read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]") + "."
        elif " = " in line and not line.startswith("#"):
            key, value = line.split(" = ", 1)
            found.append(f"{section}{key}={value}")
    return found


def fitted(file, arguments):
    """Settings of a device fitted to a record of ../shared/data/devices; None without the record."""
    record = ROOT / "../shared/data/devices" / arguments[0]
    out = FOLDER / file
    if not record.exists() and not out.exists():
        return None
    if not out.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        execute([PROGRAM, "devices", "fit", str(record), *arguments[1:], "--out", str(out)])
    return settings_of(out)


# Ideal nodes that read the way the physical level makes circuits read (and average, by a table's own keys), so that a column of them
# is one of nodes; and those of symbols, with their estimator and current.
SAME_READS = ["hardware.level=ideal", "reads.chopped=true"]
SAME_WAY = SAME_READS + ["preset=noisy_reads", "nudge.cost_current=frozen", "reads.monitor=mean 8"]
FROZEN = ["crossbar.update=none"]


def averages(free, nudged):
    return [f"relaxation.average_free={free}", f"relaxation.average_nudged={nudged}"]


def changes(answer, cell):
    """What a cell changes against the first of its sweep."""
    baseline = answer["summary"][0]
    return {key: cell[key] for key in answer["keys"] if cell[key] != baseline[key]}


def cells_beside(answer, other):
    """Of two sweeps of one grid, whose first cells may differ: the cell of the other that changes as much; None where it has none."""
    cells = {frozenset(changes(other, one).items()): one for one in other["summary"]}
    return lambda cell: cells.get(frozenset(changes(answer, cell).items()))


def beside(config, name, short, **others):
    """A sweep beside others of its grid (settings by name): its answer, for each of the others the cell beside a cell, and all commands."""
    answer = study("sweep", config, name, [], short)
    cells = [cells_beside(answer, study("sweep", config, f"{name}_{one}", settings, short)) for one, settings in others.items()]
    return answer, *cells, [shown("sweep", config, [])] + [shown("sweep", config, settings, one) for one, settings in others.items()]


def update_name(cell):
    """How the devices of a cell learnt."""
    return {"none": "none: frozen"}.get(cell["crossbar.update"], cell["crossbar.update"].replace("_", "–"))


def check(config, name, settings=(), short=()):
    """A gradient check; kept as JSON, since there is nothing to resume."""
    kept = FOLDER / "gradcheck" / f"{name}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    if not kept.exists():
        options = list(settings) + (list(short) if SHORT else [])
        answer = execute([PROGRAM, "gradcheck", config, "--json"] + [word for s in options for word in ("--set", s)])
        kept.write_text(answer)
    return json.loads(kept.read_text())


def cosine(value):
    """.9421, or 1 − 3e-5 where four digits do not tell it from 1; a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    lost = 1 - value
    if abs(lost) < 1e-14:
        return "1"
    return f"1 − {lost:.0e}".replace("e-0", "e-") if 0 < lost < 1e-4 else f"{value:.4f}"


def failed_rate(cell, median):
    """What stands for a cell with runs that failed: no mean of the others, but the median of all, the failed ranked worst, and the rate."""
    rate = f"{cell['failed']} of {cell['runs'] + cell['failed']} failed"
    return f"–, {rate}" if cell["median"] is None else f"{median(cell['median'])} median, {rate}"


def spread(cell, digits=4):
    """mean ± deviation of a JSON summary, or failed_rate()."""
    if cell["failed"]:
        return failed_rate(cell, lambda value: f"{value:.{digits}f}")
    if cell["mean"] is None:
        return "–"
    text = f"{cell['mean']:.{digits}f}"
    return text + (f" ± {cell['deviation']:.{digits}f}" if cell["deviation"] else "")


def percent(cell, digits=2):
    """The same of a share, in percent."""
    if cell["failed"]:
        return failed_rate(cell, lambda value: f"{100 * value:.{digits}f} %")
    if cell["mean"] is None:
        return "–"
    return f"{100 * cell['mean']:.{digits}f}" + (f" ± {100 * cell['deviation']:.{digits}f}" if cell["deviation"] else "") + " %"


def difference(d, unit=1, digits=4):
    """A paired difference of a comparison's JSON; where a run failed, pairs won and lost."""
    if d["failed"]:
        return f"won {d['won']}, lost {d['lost']} of {d['seeds']}, sign test p = {d['sign_test']:.2g}"
    if d["mean"] is None:
        return "–"
    return intervals.held(unit * d["mean"], unit * (d["deviation"] or 0), d["seeds"], digits)


def one_run(one):
    """What so many test samples say of one run's accuracy."""
    interval = one.get("one_run")
    return f"[{100 * interval['low']:.1f}, {100 * interval['high']:.1f}] of {interval['test_samples']:.0f}" if interval else "–"


def is_value(value, written):
    """Whether a value of a point is that of a cell, which has numbers as %g, and the word where 0 has one."""
    if isinstance(value, (str, bool)):
        return str(value).lower() == str(written).lower()
    try:
        return f"{value:g}" == f"{float(written):g}"
    except ValueError:
        return value == 0


def by_seed(answer, cell, value="validation_loss"):
    """A result (a column, or a function of the point) of the runs of a cell that ended well, by seed; cell: values of keys."""
    of = value if callable(value) else lambda point: point[value]
    keys = [key for key in answer["keys"] if key in cell]
    same = lambda point: all(is_value(point[key], cell[key]) for key in keys)
    return {p["seed"]: of(p) for p in answer["points"] if p["status"] == "ok" and same(p)}


def paired_by_seed(own, other, digits=3):
    """paired() of two results by seed, over the seeds that both have."""
    return paired([own[seed] - other[seed] for seed in own if seed in other], digits)


def mean_deviation(values, digits, unit=1):
    """mean ± standard deviation of numbers as text."""
    values = [unit * value for value in values]
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"


def mean_of(cell, key, form, unit=1):
    """The mean of a result of a cell in a format; a dash for none."""
    return "–" if cell[key]["mean"] is None else form.format(unit * cell[key]["mean"])


def paired(differences, digits=3, half=False):
    """The mean of paired differences, to which its table gives a simultaneous interval (intervals.py)."""
    if not differences:
        return "–"
    deviation = statistics.stdev(differences) if len(differences) > 1 else 0
    return intervals.held(statistics.mean(differences), deviation, len(differences), digits, half)


def number(cell):
    """The number that stands for a cell: the mean, or where runs failed the median with the failed ranked worst; None where that is one."""
    return cell["median"] if cell["failed"] else cell["mean"]


def imperfections(answer, other):
    """Rows of a sweep in mode one_at_a_time: what each cell changes, and the validation accuracy it loses by that; beside, of ideal nodes."""
    beside = cells_beside(answer, other)
    rows = [["imperfection", "runs (failed)", "validation accuracy", "lost", "ideal nodes", "lost", "cosine", "ideal nodes"]]
    for cell in answer["summary"]:
        changed = ", ".join(f"`{k}` = {v}" for k, v in changes(answer, cell).items()) or "none"
        ideal = beside(cell)
        rows.append([changed, f"{cell['runs']} ({cell['failed']})", percent(cell["validation_accuracy"]), lost(answer, cell),
                     *((percent(ideal["validation_accuracy"]), lost(other, ideal)) if ideal else ("–", "–")),
                     cosine(number(cell["cosine"])), cosine(number(ideal["cosine"])) if ideal else "–"])
    return table(rows) + "\n\nMean ± standard deviation over the seeds; lost: percentage points against no imperfection. "


def lost(answer, cell):
    """Percentage points of validation accuracy against the first cell of the sweep."""
    first, own = (number(one["validation_accuracy"]) for one in (answer["summary"][0], cell))
    return "–" if first is None or own is None else f"{100 * (first - own):+.2f}"


def trivial(reference):
    """What trivial models score on the same samples, as a sentence."""
    if not reference:
        return ""
    part = lambda name: ", ".join(f"{model} {100 * row['score']:.2f} %" for model, row in reference[name].items())
    return "Trivial models: " + "; ".join(f"{part(name)} on {name}" for name in ("validation", "test") if name in reference) + "."


def lines(text):
    """What counting scores on the text, as a sentence."""
    if not text:
        return ""
    part = lambda name: f"unigram {text[name]['unigram']:.4f} and bigram {text[name]['bigram']:.4f} on the {name} part"
    test = f", {part('test')}" if text.get("test") else ""
    return (f"Counting alone scores {text['validation']['chance']:.4f} (chance), {part('validation')}{test} (nat per character, "
            "add-one smoothed).")


def text_lines(rows):
    """What counting scores, of the rows of an exported file, as lines() has it."""
    return {row["split"]: {key: float(value) for key, value in row.items() if key != "split"} for row in rows or []}


def unigram_mark(loss, text, part):
    """A note where a loss shows nothing beyond letter frequencies."""
    line = (text or {}).get(part)
    return " (above unigram)" if line and loss is not None and loss >= line["unigram"] else ""


def machine():
    """The machine in words."""
    cores = len(os.sched_getaffinity(0))
    return ("one", "two", "three", "four")[cores - 1] + (" core" if cores == 1 else " cores") if cores <= 4 else f"{cores} cores"


def keep(name, commands, commits, parts, data=None, figures=()):
    """Writes results/NAME.json; figures: the pictures that hold the digest of its data."""
    result = {"date": datetime.date.today().isoformat(), "machine": machine(), "commits": list(commits), "commands": list(commands),
              "configs": sections.measured_configs(commands), "sections": parts}
    result |= ({} if data is None else {"data": data}) | ({"figures": list(figures)} if figures else {})
    sections.save(name, result, FOLDER if not SHORT else FOLDER / "results")


def write(name, commands, body, commits, document="results/results.md", briefly=None, data=None, figures=()):
    """Keeps a table as results/NAME.json and renders it into its document (a copy of it for a smoke test).

    briefly: {document: (Markdown, where the rest stands)} of shorter tables of the same file; data: what a figure is made from; figures: as keep() has
    them.
    """
    parts = [{"document": document, "content": sections.content_of(body)}]
    parts += [{"document": other, "brief": rest, "content": sections.content_of(text)} for other, (text, rest) in (briefly or {}).items()]
    keep(name, commands, commits, parts, data, () if SHORT else figures)
    for part in parts if SHORT else ():
        copy = FOLDER / pathlib.Path(part["document"]).name
        if not copy.exists():
            shutil.copy(ROOT / part["document"], copy)
    for done in sections.render([name], copies=FOLDER if SHORT else None):
        print(f"{done}: rendered from results/{name}.json")


def chosen_values(entrant, keys):
    """What the tuning of an entrant chose for every key, with a star at an outermost value of its grid."""
    chosen, edges = entrant["chosen"] or {}, entrant.get("edges", [])
    return [chosen.get(key, "–") + (" *" if key in edges else "") for key in keys]


def devices(name, config, ideal, short):
    """Writes the table of a sweep of published devices on samples, beside the same with ideal nodes (settings)."""
    commits = noted(name)
    answer, other, commands = beside(config, name, short, ideal=ideal)
    rows = [["preset", "update", "runs (failed)", "validation accuracy", "ideal nodes", "validation loss", "against frozen devices", "last fifth, per 1000 steps", "cosine",
             "pulses of learning", "heat of the reads of a step"]]
    frozen = {cell["device.preset"]: by_seed(answer, cell) for cell in answer["summary"] if cell["crossbar.update"] == "none"}
    for cell in answer["summary"]:
        null = frozen.get(cell["device.preset"], {})
        against = "–" if cell["crossbar.update"] == "none" else paired_by_seed(by_seed(answer, cell), null, 4)
        rows.append([f"`{cell['device.preset']}`", update_name(cell), f"{cell['runs']} ({cell['failed']})",
                     percent(cell["validation_accuracy"]), percent(other(cell)["validation_accuracy"]), spread(cell["validation_loss"]), against,
                     spread(cell["loss_slope"], 3), cosine(cell["cosine"]["mean"]), mean_of(cell, "pulses", "{:.1e}"), mean_of(cell, "array_energy", "{:.2f} µJ", 1e6)])
    body = table(rows) + ("\n\nMean ± standard deviation over the seeds; against frozen devices: difference of the losses, paired by seed; last fifth: slope of the loss over "
                          "the last fifth of the steps. ") + trivial(answer["reference"])
    write(name, commands, body, commits)


def comparison(table_name, config, short):
    """Writes the table of a comparison of classifiers that were tuned alike: fresh seeds, test part."""
    commits = noted(table_name)
    answer = study("compare", config, table_name, [], short)
    rows = [["entrant"] + answer["keys"] + ["seeds (failed)", "validation loss", "test loss", "validation accuracy", "test accuracy",
                                            "one run, 95 %", "difference, 95 %"]]
    edge = False
    for number, one in enumerate(answer["entrants"]):
        cells = chosen_values(one, answer["keys"])
        edge = edge or any(cell.endswith(" *") for cell in cells)
        rows.append([f"`{one['name']}`"] + cells + [f"{one['runs']} ({one['failed']})", spread(one["validation_loss"]),
                                                    spread(one["test_loss"]), percent(one["validation_accuracy"]),
                                                    percent(one["test_accuracy"]), one_run(one),
                                                    "baseline" if number == 0 else
                                                    difference(one["difference_accuracy"], 100, 2)])
    body = table(rows) + (
        "\n\nMean ± standard deviation over the fresh seeds; one run: what so many test samples say of one run's accuracy, binomial (Wilson); "
        f"differences of the test accuracy in percentage points, paired by seed: {answer['intervals_hold']}. ")
    body += trivial(answer["reference"])
    if edge:
        body += "\n\n\\* an outermost value of the grid: the best may lie beyond it (beta means nothing to the backprop entrants)."
    write(table_name, [shown("compare", config, [], table_name)], body, commits)


def main(arguments):
    if arguments[:1] == ["--render"]:
        print("\n".join(sections.render(arguments[1:])))
    elif arguments == ["--check"]:
        faults = sections.faults()
        if faults:
            sys.exit("\n".join(faults))
        print(f"{len(sections.load())} results files as the documents and examples/ have them")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
