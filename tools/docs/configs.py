# SPDX-License-Identifier: Apache-2.0
"""Makes docs/gallery/configs.md from the first comment of every examples/*.toml: its question, its commands and what they take.

    python3 tools/docs/configs.py            # writes the page
    python3 tools/docs/configs.py --check    # fails where a comment has changed, or a config has none
"""
import os
import pathlib
import re
import sys

import generated
from generated import ROOT

PAGE = ROOT / "docs" / "gallery" / "configs.md"
GROUPS = {  # the command of the first line of commands
    "train": "Train a network",
    "gradcheck": "Compare gradients",
    "sweep": "Sweep keys and seeds",
    "compare": "Compare methods",
    "": "Other commands",
}
HEAD = """# Configs by question

Every config of `examples/` answers one question. Its first comment has the question, the commands and the time they take, and this page is
made from these comments (`python3 tools/docs/configs.py`). The commands run in the repository's root, with the program on the `PATH`.
"""


def comment(path):
    """The lines of the first comment without their marks."""
    found = re.match(r"(?:#[^\n]*\n)+", path.read_text(encoding="utf-8"))
    if not found or "nudge " not in found[0]:
        sys.exit(f"{path.relative_to(ROOT)}: no first comment with a question and a command")
    return [line[1:].removeprefix(" ") for line in found[0].rstrip("\n").split("\n")]


def title_of(page):
    return re.search(r"^# (.*)$", page.read_text(encoding="utf-8"), re.M)[1]


def with_links(text, own):
    """Names of pages and of other configs become links, stars and angles are what they are."""
    def link(found):
        name, kind = found[0], found[0].rpartition(".")[2]
        page = ROOT / name
        if kind == "md":
            if not page.exists() or not name.startswith(("docs/", "results/")):
                return f"`{name}`"
            return f"[{title_of(page)}]({os.path.relpath(page, PAGE.parent)})"
        stem = pathlib.PurePath(name).name
        if stem == own or not (ROOT / "examples" / stem).exists():
            return f"`{name}`"
        return f"[`{stem}`](#{stem.replace('.', '')})"

    text = re.sub(r"(?<!\\)([*<])", r"\\\1", text)
    return re.sub(r"(?<![\w/.-])[\w/.-]+\.(?:md|toml)\b", link, text)


def wrapped(line, width=100):
    """A line of commands in lines of the page: one command each, long ones broken in front of an option. Notes behind a command stay there."""
    if re.search(r"\S {3,}\S", line):
        return [line]
    out = []
    for command in line.split(" && "):
        while len(command) > width and (at := command.rfind(" --", 8, width - 2)) > 0:
            out.append(command[:at] + " \\")
            command = "  " + command[at + 1:]
        out.append(command)
    return out


def section(path):
    """(name of its first command, lines of the page)."""
    lines, out, kind, first = comment(path), [], "", None
    for line in lines:
        code = line.startswith("  ") or (kind == "code" and out[-1].endswith("\\"))
        if code != (kind == "code") or not kind:
            if kind == "code":
                out += ["```"]
            out += ["", "```"] if code else [""]
            kind = "code" if code else "text"
        if code:
            line = line.removeprefix("  ")
            first = first or re.match(r"nudge (\w+)", line)
            out += wrapped(line)
        else:
            out.append(with_links(line, path.name))
    if kind == "code":
        out.append("```")
    return (first[1] if first else ""), [f"### {path.name}", "", f"[Open the config](../../examples/{path.name})", *out, ""]


def page():
    found = {title: [] for title in GROUPS}
    for path in sorted((ROOT / "examples").glob("*.toml")):
        command, lines = section(path)
        found[command if command in found else ""] += lines
    out = HEAD.split("\n")
    for command, title in GROUPS.items():
        if found[command]:
            out += [f"## {title}", "", *found[command]]
    return "\n".join(out).rstrip("\n") + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    made = page()
    generated.write_or_check({PAGE: made}, "python3 tools/docs/configs.py", bool(sys.argv[1:]), f"{PAGE.name}: {made.count(chr(10) + '### ')} configs")


if __name__ == "__main__":
    main()
