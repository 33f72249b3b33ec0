# SPDX-License-Identifier: Apache-2.0
"""Makes docs/reference/configuration.md and a page per section (or part of one), docs/reference/config/SECTION.md, from what `nudge config keys` prints.

    python3 tools/docs/config_keys.py build/release/apps/nudge            # writes the pages
    python3 tools/docs/config_keys.py build/release/apps/nudge --check    # fails where a page says something else than the program
    python3 tools/docs/config_keys.py build/release/apps/nudge --counts   # prints in how many files each key is set

A page begins with the keys that people set first: those set in most files of examples/, docs/ and tests/. A key that a page names
stays there while it is among the first FIRST + SLACK, so that a new test does not change the page. A section of FEW keys needs no such table.
"""
import collections
import re
import subprocess
import sys

import generated
from generated import ROOT

INDEX, FOLDER = ROOT / "docs" / "reference" / "configuration.md", ROOT / "docs" / "reference" / "config"
FIRST, SLACK, FEW = 10, 5, 3
TOP = "outside_sections"  # the page of keys outside sections
# Sections by what users ask, in the order of the index. A section that stands in no group is an error.
GROUPS = {
    "The run": {
        "": "Which preset, seed, precision, estimator and β?",
        "output": "Where do results go, and how much is logged?",
        "train": "How long, how fast and by which rule does it learn?",
        "product": "Which library multiplies matrices?",
    },
    "What is learned": {
        "task": "What is learned?",
        "data": "From which data, and how are they split?",
        "series": "Which series is forecast?",
    },
    "What settles": {
        "network": "Which kind of network?",
        "model": "How large is a block, and where do its weights start?",
        "mixer": "How do tokens mix?",
        "stack": "How many blocks lie above one another?",
        "transformer": "Which layers has an equilibrium transformer?",
        "hopfield": "Which layers lie above a sample?",
        "convolutional": "Which convolutions?",
        "resistive": "Which layers of resistors and diodes?",
        "netlist": "Which SPICE netlist is trained?",
        "oscillator": "Which coupled oscillators?",
        "thermal": "Which units in a heat bath?",
        "predictive_coding": "Which layers predict each other?",
        "own": "What does my own network declare?",
    },
    "What does not settle": {
        "sequence": "Which sequence model learns by backprop?",
        "latent": "Which latent bits has a free transformer?",
        "argmax": "How is the largest value read?",
    },
    "How it settles and how the gradient is measured": {
        "relaxation": "How long does a phase last, and which solver runs it?",
        "nudge": "How is the output nudged?",
        "reads": "Which reads are noisy, averaged or ideal?",
        "correction": "Which circuit carries the asymmetric correction?",
        "gradcheck": "What does `nudge gradcheck` compare?",
        "growth": "What keeps the free phase fast to settle?",
        "damping": "How is the damping controlled?",
        "memory_bound": "What bounds the Hopfield memory?",
    },
    "Devices": {
        "device": "Which device holds the weights, and how imperfect is it?",
        "device.linear_step": "Device model: linear step",
        "device.soft_bounds_reference": "Device model: soft bounds with a reference",
        "device.power_step": "Device model: power step",
        "device.exponential_step": "Device model: exponential step",
        "device.label_curve": "Device model: curve by nonlinearity label",
        "device.piecewise": "Device model: measured steps, point by point",
        "device.vteam": "Device model: VTEAM",
        "device.yakopcic": "Device model: Yakopcic",
        "device.memristor_table": "Device model: table of a memristor's rates",
        "device.short_long_term": "Device model: short- and long-term memory",
        "hardware_aware": "What do numbers see that will be written to devices?",
    },
    "Circuits": {
        "hardware": "How ideal are circuits by default?",
        "crossbar": "How do arrays map, read and write weights?",
        "circuit": "Which amplifiers, voltages, temperatures and times?",
        "neuron": "How well do the circuits of units match?",
        "attention": "Which circuits form attention?",
        "correlator": "Which circuits correlate for the update?",
        "chip": "What chip do the arrays stand on, and what does it cost?",
    },
    "Many runs": {
        "sweep": "Which keys and seeds are swept?",
        "compare": "Which methods are compared, and how are they tuned?",
        "spec": "Which requirements of a chip are looked for, and at which loss?",
    },
}
# Sections of more than one page: {name: (what it has, its question, keys by the beginning of their names)}. A key is on the first page that it fits, else on that of the section.
PARTS = {
    "device": {
        "time": ("after a write", "What does time do to a written device?", r"drift_|decay_|leak_|read_disturb_|relaxation_"),
        "noise": ("noise of reads", "How noisy is a read of a device?", r"read_|telegraph_|flicker_|noise_"),
        "spread": ("writes and spread", "How exact is a write, and how do devices differ?", r"programming_|write_noise|update_noise|endurance|stuck_|joint_|\w+_spread"),
    },
    "crossbar": {
        "lines": ("lines", "What do the amplifiers and converters at rows and columns add?", r"(?:forward|transposed)_(?!path)"),
        "rules": ("update rules", "Which settings has an update rule?", r"threshold|read_back|random_start|refresh_|transfer_|fast_|zero_|buffer_|chopper_|residual_|timescale|pulse_"),
    },
}
ROW = re.compile(r"\| `([^`]+)` \| (.*?) \| (.*?) \| (.*) \|$")


def sections(program):
    """({section: [(key, default, values, meaning)]}, the paragraphs in front of them), as Markdown."""
    printed = subprocess.run([program, "config", "keys"], text=True, capture_output=True, check=True).stdout
    head, *parts = re.split(r"^## ", printed, flags=re.M)
    found = {}
    for part in parts:
        title, *lines = part.split("\n")
        rows = [ROW.fullmatch(line) for line in lines if line.startswith("| `")]
        if not all(rows):
            sys.exit(f"tools/docs/config_keys.py: a row of {title} is not key, default, values, meaning")
        found["" if title == "Outside sections" else title.strip("[]")] = [one.groups() for one in rows]
    generated.names_in_groups("config_keys.py", GROUPS, found)
    return found, [one for one in head.split("\n\n")[1:] if one.strip() and not one.startswith("Made ")]


def set_in(text, suffix, keys):
    """The keys that the text of a file sets: key = value, key=value, section__key=, names below a [section], and keys of a grid; in quotes where no section stands before."""
    text = text.replace("\\n", "\n").replace("__", ".")
    found = re.findall(r"(?<![\w.])((?:\w+\.)+\w+)[\"']?\s*=(?!=)", text)
    for section, lines in re.findall(r"\[(\w+(?:\.\w+)*)\][^\S\n]*(?:#.*)?\n((?:[^\S\n]*(?:#.*|[\w.\"]+ *=.*)?\n)+)", text):
        found += [f"{section}.{name}" for name in re.findall(r"^\s*([\w.\"]+) *=", lines, re.M)]
    before = r"(?:^|[\"'`]|--set )" if suffix in (".md", ".toml", ".sh") else r"(?:[\"']|--set )"
    found += re.findall(before + r"(\w+) ?= ?[\"'\w]", text, re.M)
    return {re.sub(r"^(?:sweep\.grid|compare\.grid|spec\.range)\.|\"", "", one.replace('"', "")) for one in found} & keys


def counts(keys):
    """In how many files each key is set."""
    made = {INDEX, ROOT / "docs" / "reference" / "commands.md", ROOT / "docs" / "gallery" / "configs.md"}
    folders = {FOLDER, ROOT / "docs" / "reference" / "commands"}
    found = collections.Counter()
    for folder in ("examples", "docs", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".toml", ".md", ".py", ".cpp", ".hpp", ".sh") and path not in made and path.parent not in folders:
                found.update(set_in(path.read_text(encoding="utf-8"), path.suffix, keys))
    return found


def first(count, keys, page):
    """The keys that people set first, in the order of `count`; those that the page has stay while they are near the top."""
    ranked = sorted((one for one in keys if count[one]), key=lambda one: (-count[one], keys.index(one)))
    there = re.findall(r"^\| \[`([^`]+)`\]", page.read_text(encoding="utf-8"), re.M) if page.exists() else []
    wanted = min(FIRST, len(ranked))
    return there if len(there) == wanted and set(there) <= set(ranked[:FIRST + SLACK]) else ranked[:wanted]


def split(found):
    """{name of a page: (section, what it has of it, question, rows)} in the order of the index, and {key: name of its page}."""
    made, place = {}, {}
    for questions in GROUPS.values():
        for section, question in questions.items():
            name = name_of(section)
            made[name] = (section, "", question, [])
            made.update({f"{name}_{part}": (section, what, asked, []) for part, (what, asked, _) in PARTS.get(section, {}).items()})
            for row in found[section]:
                part = next((f"_{part}" for part, (_, _, keys) in PARTS.get(section, {}).items() if re.match(keys, row[0].rpartition(".")[2])), "")
                made[name + part][3].append(row)
                place[row[0]] = name + part
    return made, place


def anchor(key):
    return key.replace(".", "").lower()


def name_of(section):
    return section.replace(".", "_") or TOP


def title_of(section, what):
    return (f"[{section}]" if section else "Outside sections") + (f": {what}" if what else "")


def link_to(section, what, page):
    shown = f"`[{section}]`" if section else "outside sections"
    return f"[{shown}{': ' + what if what else ''}]({page}.md)"


def brief(meaning):
    """The first sentence of a meaning, without its source."""
    text = re.split(r"(?<=[a-z)\]\"`])[.;:] ", re.sub(r" ?\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]$", "", meaning), maxsplit=1)[0].rstrip(".") + "."
    return text[0].upper() + text[1:] if re.match("[a-z][a-z-]+ ", text) else text


def first_table(keys, rows, page_of):
    out = ["| key | default | meaning |", "|---|---|---|"]
    for key in keys:
        _, default, _, meaning = rows[key]
        out.append(f"| [`{key}`]({page_of(key)}#{anchor(key)}) | {default} | {brief(meaning)} |")
    return out


def section_page(name, parts, count):
    section, what, question, rows = parts[name]
    by_key = {row[0]: row for row in rows}
    out = [f"# {title_of(section, what)}", "", question.rstrip(".") + ("" if question.endswith("?") else "."), "",
           "[All sections](../configuration.md). Made by `python3 tools/docs/config_keys.py build/release/apps/nudge`.", ""]
    if others := [link_to(section, other[1], page) for page, other in parts.items() if other[0] == section and page != name]:
        out += [f"More keys: {', '.join(others)}.", ""]
    keys = first(count, list(by_key), FOLDER / f"{name}.md")
    if len(rows) > FEW and keys:
        out += ["## Set first", "", *first_table(keys, by_key, lambda _: ""), ""]
    out += ["## All keys", ""]
    for key, default, values, meaning in rows:
        out += [f"### `{key}`", "", f"Default: {default}. Values: {values}.", "", meaning, ""]
    return "\n".join(out).rstrip("\n") + "\n"


def pages(program):
    found, head = sections(program)
    rows = {row[0]: row for part in found.values() for row in part}
    count = counts(set(rows))
    parts, place = split(found)
    out = ["# Config keys", "", *"\n\n".join(head).rstrip("\n").split("\n"), "",
           "Made by `python3 tools/docs/config_keys.py build/release/apps/nudge`. `nudge config keys` prints every key on one page.", "",
           "## Set first", "", f"These are the {FIRST} keys that most examples, pages and tests set.", "",
           *first_table(first(count, list(rows), INDEX), rows, lambda key: f"config/{place[key]}.md"), ""]
    for group, questions in GROUPS.items():
        out += [f"## {group}", "", "| question | section | keys |", "|---|---|---|"]
        out += [f"| {question} | {link_to(section, what, f'config/{name}')} | {len(keys)} |" for name, (section, what, question, keys) in parts.items() if section in questions]
        out.append("")
    made = {INDEX: "\n".join(out).rstrip("\n") + "\n"}
    made.update({FOLDER / f"{name}.md": section_page(name, parts, count) for name in parts})
    return made, count


def self_test():
    keys = {"seed", "train.steps", "device.read_noise"}
    assert set_in("[train]\n# a comment\nsteps = 3\n", ".toml", keys) == {"train.steps"}
    assert set_in("nudge train a.toml --set train.steps=3 --set seed=2", ".md", keys) == {"train.steps", "seed"}
    assert set_in('[sweep.grid]\n"device.read_noise" = [0, "1 %"]\n', ".toml", keys) == {"device.read_noise"}
    assert set_in("nudge.train(config, device__read_noise='1 %')", ".py", keys) == {"device.read_noise"}
    assert set_in('config("[train]\\nsteps = 3\\n"); int seed = 3; if (train.steps == 3)', ".cpp", keys) == {"train.steps"}
    assert set_in("`train.steps` is the number of steps", ".md", keys) == set()
    assert brief("Steps of a run; 0: none. More. [chosen]") == "Steps of a run." and brief("share of it [Li, J. 3 (2001)]") == "Share of it."


def main():
    self_test()
    given = [one for one in sys.argv[1:] if not one.startswith("-")]
    if len(given) != 1 or set(sys.argv[1:]) - set(given) - {"--check", "--counts"}:
        sys.exit(__doc__)
    made, count = pages(given[0])
    if "--counts" in sys.argv[1:]:
        print("\n".join(f"{number:4} {key}" for key, number in count.most_common()))
        return
    generated.write_or_check(made, f"python3 tools/docs/config_keys.py {given[0]}", "--check" in sys.argv[1:],
                             f"{len(made)} pages of {sum(text.count(chr(10) + '### ') for text in made.values())} keys", FOLDER)


if __name__ == "__main__":
    main()
