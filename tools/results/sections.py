# SPDX-License-Identifier: Apache-2.0
"""Tables as data: results/NAME.json holds what was measured, and the marked sections of the documents are rendered from it.

A section of a page stands between `<!-- table NAME begin -->` and `<!-- table NAME end -->`. A file has
    date, machine, commits, commands   when, on what, of what and how it was measured
    configs    {"examples/x.toml": its settings as it was run}
    sections   [{"document", "content"}]: text, and {"rows"} for a table; intervals as intervals.py holds them. "brief": content first, no commands
    data       what a figure or another table is made from
    figures    the pictures that were drawn from the data, and hold their digest
A config that has changed since is named in the section, with what it was.
"""
import hashlib
import json
import pathlib
import re
import tomllib

import intervals

ROOT = pathlib.Path(__file__).resolve().parents[2]
RENDER = "python3 tools/results/results.py --render"


def flat(table, prefix=""):
    """Settings of a parsed config by their full keys."""
    found = {}
    for key, value in table.items():
        found.update(flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value})
    return found


def settings(text):
    return flat(tomllib.loads(text))


def configs_of(commands):
    """The configs of examples/ that commands name; `make results TABLES=NAME` names those of its script."""
    texts = list(commands)
    for name in re.findall(r"make results TABLES=(\w+)", " ".join(commands)):
        texts.append((ROOT / "tools/results" / f"{name}.py").read_text())
    return list(dict.fromkeys(name for text in texts for name in re.findall(r"examples/[\w./]+\.toml", text)))


def measured_configs(commands):
    """Settings of these configs as they are now."""
    return {name: settings((ROOT / name).read_text()) for name in configs_of(commands) if (ROOT / name).exists()}


def word(value):
    """A setting as a config has it."""
    return json.dumps(value, ensure_ascii=False)


def changed(name, then, commands, root=ROOT):
    """What a config of examples/ sets otherwise now; keys that every command sets do not count. Empty where it is the same."""
    path = root / name
    if not path.exists():
        return f"{name} is gone"
    now = settings(path.read_text())
    own = [command for command in commands if name in command]
    set_by_all = lambda key: bool(own) and all(re.search(rf"--set '?{re.escape(key)}=", command) for command in own)
    parts = []
    for key in dict.fromkeys([*then, *now]):
        if then.get(key) == now.get(key) or set_by_all(key):
            continue
        was = f"was {word(then[key])}" if key in then else "was not set"
        parts.append(f"{key} {was}, {f'is {word(now[key])}' if key in now else 'is not set'}")
    return f"{name} has changed since: {'; '.join(parts)}" if parts else ""


def changes(result, root=ROOT):
    return [text for name, then in result["configs"].items() if (text := changed(name, then, result["commands"], root))]


def table(rows):
    """Rows of cells, the first a heading, as Markdown."""
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0])] + lines[1:])


def content_of(body):
    """Markdown as a list of texts and tables."""
    content, kept = [], []

    def flush():
        if "".join(kept).strip():
            content.append("\n".join(kept).strip())
        kept.clear()
    for line in body.strip().splitlines():
        if line.startswith("|") and not re.fullmatch(r"\|(-+\|)+", line):
            cells = [cell.strip() for cell in line.strip()[1:-1].split(" | ")]
            if kept or not content or isinstance(content[-1], str):
                flush()
                content.append({"rows": []})
            content[-1]["rows"].append(cells)
        elif not line.startswith("|"):
            if not line.strip() and not kept:
                kept.append("")  # an empty line ends a table
            elif line.strip() or kept:
                kept.append(line)
    flush()
    return content


def cells(content):
    """Every text of a section."""
    return [str(text) for block in content for text in ([block] if isinstance(block, str) else [cell for row in block["rows"] for cell in row])]


def rendered(result, section, root=ROOT):
    """Markdown of a section, without its markers."""
    content = section["content"]
    texts = cells(content)
    family = intervals.family_of(texts)
    blocks = [intervals.shown(block if isinstance(block, str) else table(block["rows"]), family) for block in content]
    told = intervals.told(texts)
    measured = f"Measured with commit {', '.join(result['commits'])}" if result["commits"] else "Measured"
    about = f"{measured} ({result['date']}, {result['machine']})."
    notes = [text + "." for text in changes(result, root)]
    if section.get("brief"):
        return "\n\n".join(blocks + [" ".join([told] * bool(told) + [about + section["brief"]] + notes)])
    return "\n\n".join([f"`{one}`" for one in result["commands"]] + [about] + notes + blocks + [told] * bool(told))


def markers(name):
    return f"<!-- table {name} begin -->\n", f"\n<!-- table {name} end -->"


def between(text, name):
    """What stands in a section; None without one pair of markers."""
    begin, end = markers(name)
    if text.count(begin) != 1 or text.count(end) != 1:
        return None
    return text.split(begin)[1].split(end)[0]


def replaced(text, name, inner):
    begin, end = markers(name)
    before, rest = text.split(begin)
    return before + begin + inner + end + rest.split(end)[1]


def digest(data):
    """What a picture says of the numbers that it was drawn from."""
    return "drawn from data of SHA-256 " + hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def load(root=ROOT):
    """All results files by name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((root / "results").glob("*.json"))}


def documents(root=ROOT):
    return [root / "README.md", *sorted((root / "docs").rglob("*.md")), *sorted((root / "results").glob("*.md"))]


def save(name, result, folder):
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, ensure_ascii=False, indent=1)
    # A row of a table on one line.
    text = re.sub(r"\[\n\s+((?:\"(?:[^\"\\]|\\.)*\"|[-+0-9.eE]+|null|true|false)(?:,\n\s+(?:\"(?:[^\"\\]|\\.)*\"|[-+0-9.eE]+|null|true|false))*)\n\s+\]",
                  lambda found: "[" + re.sub(r",\n\s+", ", ", found[1]) + "]", text)
    (folder / f"{name}.json").write_text(text + "\n")


def render(names=(), root=ROOT, copies=None):
    """Writes the sections of the files (all, or those named) into their documents, or into copies of them in a folder."""
    done = []
    for name, result in load(root if copies is None else copies).items():
        for section in result["sections"] if not names or name in names else ():
            path = root / section["document"]
            path = path if copies is None else copies / path.name
            text = path.read_text()
            if between(text, name) is None:
                raise SystemExit(f"{path}: needs one pair of markers of table {name}")
            path.write_text(replaced(text, name, rendered(result, section, root)))
            done.append(f"{name} in {section['document']}")
    return done


def faults(root=ROOT):
    """What is wrong between files, documents and configs, as sentences that say what to do."""
    found, files = [], load(root)
    for path in documents(root):
        text, where = path.read_text(), path.relative_to(root)
        for name in re.findall(r"^<!-- table (\w+) begin -->$", text, re.M):
            sections = [one for one in files.get(name, {}).get("sections", ()) if one["document"] == str(where)]
            if not sections:
                found.append(f"{where}: table {name} has no section in results/{name}.json. Write it by results.write() of tools/results/results.py.")
                continue
            inner, wanted = between(text, name), rendered(files[name], sections[0], root)
            if inner is None:
                found.append(f"{where}: table {name} has no end, or stands twice.")
            elif inner != wanted:
                unsaid = [one for one in changes(files[name], root) if one not in inner]
                found += [f"{where}: {one}; the section {name} does not say so. Measure it again (make results TABLES={name}), or run {RENDER} {name}." for one in unsaid]
                if not unsaid:
                    found.append(f"{where}: section {name} is not what results/{name}.json renders. Change the file, and run {RENDER} {name}.")
    for name, result in files.items():
        if not (result["commands"] or result["commits"] or any("seed" in text for one in result["sections"] for text in cells(one["content"]))):
            found.append(f"results/{name}.json: has neither commands, seeds nor commit.")
        for figure in result.get("figures", ()):
            if not (root / figure).exists() or digest(result["data"]) not in (root / figure).read_text():
                found.append(f"{figure} was not drawn from results/{name}.json. Draw it again by its script in tools/docs.")
        for section in result["sections"]:
            path = root / section["document"]
            if not path.exists() or between(path.read_text(), name) is None:
                found.append(f"results/{name}.json: {section['document']} has no section {name}.")
    return found
