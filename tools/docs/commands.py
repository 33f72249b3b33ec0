# SPDX-License-Identifier: Apache-2.0
"""Makes docs/reference/commands.md and a page per command, docs/reference/commands/COMMAND.md, from what `nudge COMMAND --help` prints.

    python3 tools/docs/commands.py build/release/apps/nudge            # writes the pages
    python3 tools/docs/commands.py build/release/apps/nudge --check    # fails where a page says something else than the program
"""
import os
import re
import subprocess
import sys

import generated
from generated import ROOT

INDEX, FOLDER = ROOT / "docs" / "reference" / "commands.md", ROOT / "docs" / "reference" / "commands"
# The order of the index: what users look for, by what they want to do. A command that stands in no group is an error.
GROUPS = {
    "Train and judge": ["train", "gradcheck", "stability", "test", "generate"],
    "Many runs": ["sweep", "compare", "advise", "benchmark", "spec", "merge", "watch"],
    "Devices and circuits": ["devices", "crossbar", "netlist"],
    "Results": ["report", "info", "export"],
    "Configs and references": ["config", "energy", "case"],
}


def run_help(program, *command):
    done = subprocess.run([program, *command, "--help"], text=True, capture_output=True, check=True, env={**os.environ, "COLUMNS": "1000"})
    return done.stdout


def parsed(text):
    """(sentence, usage, {title of a list: [(name, meaning)]}, [lines behind the lists])."""
    lines = text.rstrip().split("\n")
    usage = next(one for one in lines if one.startswith("Usage: ")).removeprefix("Usage: ")
    sentence = " ".join(" ".join(lines[: lines.index("Usage: " + usage)]).split())
    lists, rest, title = {}, [], ""
    for line in lines[lines.index("Usage: " + usage) + 1:]:
        if re.fullmatch(r"\w[\w ]*:", line):
            title = line[:-1]
            lists[title] = []
        elif title and re.match(r"  \S.{26} \S", line) and line[:30].count("[") == line[:30].count("]"):  # meanings begin at the 31st character, behind one space or more
            lists[title].append((line[:30].strip(), line[30:].strip()))
        elif title and (found := re.match(r"  (\S.*?)(?:\s{2,}(\S.*))?$", line)):
            lists[title].append((found[1], found[2] or ""))
        elif title and (found := re.match(r"\s{10,}(\S.*)$", line)):
            name, meaning = lists[title][-1]
            lists[title][-1] = (name, f"{meaning} {found[1]}".strip())
        elif line.strip():
            title = ""
            rest.append(line)
    return sentence, usage, lists, rest


def cell(text):
    return re.sub(r"(?<!\\)([|<*])", r"\\\1", text)


def split_name(name):
    """(what is written, default) of an option or argument as the help names it: "-o,--out TEXT=a.h5 REQUIRED"."""
    name, required = re.subn(r" REQUIRED\b", "", name)
    name = re.sub(r"([A-Z]+):[^={ ]*(\{[^}]*\})?[^= ]*(?: in \[[^\]]*\])?", lambda one: one[2][1:-1].replace(",", "/") if one[2] else one[1], name)
    found = re.match(r"(--?[\w-]+(?:,--[\w-]+)*)(?:\s+([A-Z/a-z]+(?:=VALUE)?))?(?:=(.*?))?( \.\.\.)?$", name)
    if not found:
        return name.replace(" TEXT", "").replace("(1x)", ""), "required" if required else ""
    default = (found[3] or "").strip()
    written = found[1].replace(",", ", ") + (f" {found[2]}" if found[2] else "") + (found[4] or "")
    return written, "required" if required else (f"`{default}`" if default else "")


def table(title, rows):
    rows = [row for row in rows if not row[0].startswith("-h,--help")]
    if not rows:
        return []
    out = ["| argument or option | default | what it does |", "|---|---|---|"] if title else []
    for name, meaning in rows:
        written, default = split_name(name)
        out.append(f"| `{written}` | {default} | {cell(meaning)} |")
    return out


def section(program, command, level):
    sentence, usage, lists, rest = parsed(run_help(program, *command))
    out = [f"{'#' * level} nudge {' '.join(command)}", "", cell(sentence) + ("" if sentence[-1] in ".?" else "."), "", f"    {usage}"]
    out += [f"    {one.removeprefix('Example: ')}" for one in rest if one.startswith("Example: ")]
    rows = lists.get("Positionals", []) + lists.get("Options", [])
    if made := table("options", rows):
        out += ["", *made]
    out.append("")
    for name, _ in lists.get("Subcommands", []):
        out += section(program, [*command, name], level + 1)
    return out


def pages(program):
    _, _, lists, rest = parsed(run_help(program))
    known = dict(lists["Subcommands"])
    generated.names_in_groups("commands.py", GROUPS, known)
    out = ["# Commands", "", "The program `nudge` has a command for each job. `nudge COMMAND --help` prints what the page of a command says.",
           "[Config keys](configuration.md) are the other half of the reference.", "",
           "Made by `python3 tools/docs/commands.py build/release/apps/nudge`.", ""]
    for title, names in GROUPS.items():
        out += [f"## {title}", "", "| command | what it does |", "|---|---|"]
        out += [f"| [`{one}`](commands/{one}.md) | {cell(known[one])} |" for one in names] + [""]
    codes = " ".join(one.strip() for one in rest).partition("Exit codes: ")[2].partition("Sections of a config")[0].strip()  # over several lines
    codes, _, after = codes.partition(";")
    out += ["## Exit codes", "", "| code | meaning |", "|---|---|"]
    out += [f"| {found[1]} | {cell(found[2])} |" for found in re.finditer(r"(\d) (.*?)(?:, (?=\d )|$)", codes)]
    out += ["", after.strip()[:1].upper() + after.strip()[1:] + "."] if after.strip() else []
    made = {INDEX: "\n".join(out).rstrip("\n") + "\n"}
    for one in known:
        title, empty, *rest = section(program, [one], 1)
        made[FOLDER / f"{one}.md"] = "\n".join([title, empty, "[All commands](../commands.md).", empty, *rest]).rstrip("\n") + "\n"
    return made


def main():
    given = [one for one in sys.argv[1:] if not one.startswith("-")]
    if len(given) != 1:
        sys.exit(__doc__)
    made = pages(given[0])
    generated.write_or_check(made, f"python3 tools/docs/commands.py {given[0]}", "--check" in sys.argv[1:], f"{len(made) - 1} commands", FOLDER)


if __name__ == "__main__":
    main()
