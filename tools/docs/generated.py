# SPDX-License-Identifier: Apache-2.0
"""Shared by the scripts that make pages: those of docs/, which are committed and checked, and those that hooks of mkdocs add to the site."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def names_in_groups(script, groups, known):
    """Ends where the names in the groups of an index ({title: names}) are not those that the program or a folder has."""
    named = [one for names in groups.values() for one in names]
    wrong = set(known) ^ set(named) | {one for one in named if named.count(one) > 1}
    if wrong:
        sys.exit(f"tools/docs/{script}: GROUPS must have each of these once: {', '.join(sorted(wrong))}")


def write_or_check(pages, command, check, what, folder=None):
    """Writes {path: text}; or, to check, ends with the first differing lines and the command that mends them. `what` names them if all is well.

    A page of `folder` that is not among them is an error."""
    if folder and (old := sorted(set(folder.glob("*.md")) - set(pages))):
        sys.exit(f"{', '.join(str(one.relative_to(ROOT)) for one in old)}: nothing makes this page any more. Remove it.")
    if not check:
        for path, text in pages.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return
    wrong = []
    for path, text in pages.items():
        there, made = path.read_text(encoding="utf-8").split("\n") if path.exists() else [], text.split("\n")
        lines = [f"- {one}" for one in there if one not in made] + [f"+ {one}" for one in made if one not in there]
        if there != made:
            wrong.append("\n".join([f"{path.relative_to(ROOT)} is out of date:", *(lines or ["its lines have another order"])[:20]]))
    if wrong:
        sys.exit("\n".join([*wrong, f"Run: {command}"]))
    print(what)


def add_to_site(files, config, problems, pages):
    """Adds {address: text} to the site of mkdocs, or fails with the problems."""
    from mkdocs.exceptions import PluginError
    from mkdocs.structure.files import File

    if problems:
        raise PluginError("; ".join(problems))
    for address, text in pages.items():
        files.append(File.generated(config, address, content=text))
    return files


def show_or_check(usage, show, problems, what):
    """The only argument: --check, which prints `what()` or ends with the problems; or what `show` makes text of, "" where it cannot."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    if sys.argv[1] != "--check":
        text = show(sys.argv[1])
        sys.exit(usage) if not text else print(text)
    elif missing := problems():
        sys.exit("\n".join(missing))
    else:
        print(what())
