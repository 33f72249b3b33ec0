# SPDX-License-Identifier: Apache-2.0
"""Makes docs/gallery/configs.md from the first comment of every examples/*.toml: the question that it begins with.

    python3 tools/docs/configs.py            # writes the page
    python3 tools/docs/configs.py --check    # fails where a question has changed, or a config asks none
"""
import re
import sys

import generated
import style
from generated import ROOT

PAGE = ROOT / "docs" / "gallery" / "configs.md"
LONGEST = 20  # words of a question
GROUPS = {  # the command of the first line of commands
    "train": "Train a network",
    "gradcheck": "Compare gradients",
    "sweep": "Sweep keys and seeds",
    "compare": "Compare methods",
    "": "Other commands",
}
HEAD = """# Configs by question

Every config of `examples/` answers one question. Open a config: its first comment has the commands and the time that they take.
They run in the root of the repository, with the program on the `PATH`.

Made from these comments by `python3 tools/docs/configs.py`.
"""


def comment(path):
    """The lines of the first comment without their marks."""
    found = re.match(r"(?:#[^\n]*\n)+", path.read_text(encoding="utf-8"))
    if not found or "nudge " not in found[0]:
        sys.exit(f"{path.relative_to(ROOT)}: no first comment with a question and a command")
    return [line[1:].removeprefix(" ") for line in found[0].rstrip("\n").split("\n")]


def question(path):
    """The question that the comment begins with, as Markdown."""
    lines = comment(path)
    text = " ".join(lines[: next(at for at, line in enumerate(lines) if line.startswith("  "))])
    first = text.partition("?")[0] + "?"
    if "?" not in text or len(style.sentences(first)) > 1 or style.words(first) > LONGEST:
        sys.exit(f"{path.relative_to(ROOT)}: the first comment must begin with a question of at most {LONGEST} words, not: {first}")
    return re.sub(r"(?<!\\)([|*<])", r"\\\1", first)


def page():
    found = {title: [] for title in GROUPS}
    for path in sorted((ROOT / "examples").glob("*.toml")):
        command = re.search(r"^  .*?\bnudge (\w+)", "\n".join(comment(path)), re.M)[1]
        found[command if command in GROUPS else ""].append(f"| {question(path)} | [`{path.name}`](../../examples/{path.name}) |")
    out = HEAD.split("\n")
    for command, title in GROUPS.items():
        if found[command]:
            out += [f"## {title}", "", "| question | config |", "|---|---|", *found[command], ""]
    return "\n".join(out).rstrip("\n") + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    made = page()
    generated.write_or_check({PAGE: made}, "python3 tools/docs/configs.py", bool(sys.argv[1:]), f"{PAGE.name}: {made.count('](../../examples/')} configs")


if __name__ == "__main__":
    main()
