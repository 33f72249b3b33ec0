# SPDX-License-Identifier: Apache-2.0
"""Checks the words of the documentation: docs/**/*.md, README.md, CONTRIBUTING.md and CHANGELOG.md.

    python3 tools/docs/style.py            # a table: words, sentences and words per sentence of every page
    python3 tools/docs/style.py --check    # fails with a line PAGE:LINE: what is wrong, for every problem
    python3 tools/docs/style.py PAGE ...   # the same for some pages

A page has sentences of at most 30 words. It has at most 1,500 words, code and tables included (`wc -w`); the change log may
have more. Decimals have a leading zero. A star that Markdown would turn
into italics stands in code. A page of the documentation is a link and not a file name. Relative links and their anchors exist. Lines of
code have at most 100 characters, rows of tables at most 200 as shown.

Every page of docs/ stands once in the navigation of mkdocs.yml.

Code, tables, titles, quotes and what scripts write between <!-- table NAME begin --> and <!-- table NAME end --> are no sentences. Pages
that a program makes (GENERATED) are held to their links and their length only. EXCEPTIONS names pages that are not ready. It may only shrink: an exception
that nothing needs is a problem too.
"""
import pathlib
import re
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
SENTENCE, PAGE, CODE, ROW = 30, 1500, 100, 200
GENERATED = {"docs/reference/configuration.md", "docs/reference/commands.md", "docs/gallery/configs.md",
             *(one.relative_to(ROOT).as_posix() for name in ("config", "commands") for one in (ROOT / "docs" / "reference" / name).glob("*.md"))}
MADE_BY_THE_SITE = re.compile(r"docs/(cpp/\w+|gallery/\w+|reference/python_api\w*)\.md$")  # hooks of mkdocs make these pages: they lie in no folder
# Page: (kinds of problems, reason). Kinds: sentence, page, decimal, star, name, link, code, row.
EXCEPTIONS = {
    "docs/explanation/what_is_modelled.md": (("row",), "kinds of networks with the reasons of what stays digital"),
    "docs/reference/device_models.md": (("row",), "equations of step models"),
    "docs/reference/devices.md": (("row",), "keys, law and test of every effect"),
    "docs/reference/mixers.md": (("row",), "lists of mixers"),
    "docs/reference/networks.md": (("row",), "terms with their equations"),
    "docs/reference/presets.md": (("row",), "numbers of presets with their sources"),
    "docs/reference/programming.md": (("row",), "what is counted"),
}

FENCE = re.compile(r"^ *(```|~~~)")
ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^()\s>]*(?:\([^()]*\)[^()\s>]*)*)>?(?:\s+\"[^\"]*\")?\s*\)")
ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|et al|cf|vs|[Ff]ig|[Ee]qs?|No|Sec|approx|resp|Phys|Rev|Lett|Nat|Proc|Commun|Mater|Am|Stat|Assoc)\.$")


class Page:
    """A page of Markdown in parts: lines of prose, code and tables, with their numbers."""

    def __init__(self, text):
        self.prose, self.code, self.rows, self.titles = [], [], [], []   # of (line, text)
        self.blocks = []                                                 # paragraphs and items of lists, of (line, text)
        self.links = []                                                  # (line, target)
        marked = fenced = comment = False
        block, in_list = [], False
        for number, line in enumerate(text.split("\n"), 1):
            if re.match(r"\s*<!-- table .* begin -->", line):
                marked = True
            if marked or comment:
                self.end(block)
                marked = marked and not re.match(r"\s*<!-- table .* end -->", line)
                comment = comment and "-->" not in line
            elif FENCE.match(line):
                self.end(block)
                fenced = not fenced
            elif fenced:
                self.code.append((number, line))
            elif line.lstrip().startswith("<!--"):
                self.end(block)
                comment = "-->" not in line
            elif not line.strip():
                self.end(block)
            elif re.match(r"( {8}|\t\t)" if in_list else r"( {4}|\t)", line) and not block and not ITEM.match(line):
                self.code.append((number, line[8 if in_list else 4:]))
            elif line.startswith("#"):
                self.end(block)
                self.titles.append((number, line.lstrip("#").strip()))
            elif line.lstrip().startswith("|"):
                self.end(block)
                self.rows.append((number, line.strip()))
            else:
                item = ITEM.match(line)
                if item:
                    self.end(block)
                    line = line[item.end():]
                in_list = bool(item) or (in_list and line.startswith(" "))
                block.append((number, line))
                self.prose.append((number, line))
            if line.strip() and not line.startswith(" ") and not block:
                in_list = False
        self.end(block)
        for number, line in self.prose + self.rows + self.titles:
            for found in LINK.finditer(without_code(line)):
                self.links.append((number, found[2]))
        # A link may be broken over two lines.
        for number, paragraph in self.blocks:
            for found in LINK.finditer(without_code(paragraph)):
                if not any(found[2] == target for _, target in self.links):
                    self.links.append((number, found[2]))

    def end(self, block):
        if block:
            self.blocks.append((block[0][0], " ".join(line.strip() for _, line in block)))
            block.clear()


def without_code(text):
    """Inline code as one word that is no link, no star and no number."""
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "CODE", text)


def shown(text):
    """What a reader sees of a line: texts of links, no marks of emphasis, code as it is."""
    text = LINK.sub(lambda found: "" if found[0].startswith("!") else found[1], text)
    return re.sub(r"\*\*|`", "", text)


def plain(text):
    """Prose for counting: code and quotes are one word each, links are their texts."""
    text = LINK.sub(lambda found: " " if found[0].startswith("!") else found[1], without_code(text))
    text = re.sub(r"<[^<>]*>", " ", re.sub(r"\bhttps?://\S+", "URL", text))
    text = re.sub(r"[\"“][^\"“”]*[\"”]", "QUOTE", text)
    return re.sub(r"[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}", "", text)


def sentences(paragraph):
    parts, at = [], 0
    for found in re.finditer(r"[.!?][)\"”’]*\s+(?=[\"“(\[]*[A-ZÀ-Ýα-ωΑ-Ω0-9∂])", paragraph):
        if ABBREVIATIONS.search(paragraph[at:found.start() + 1]):
            continue
        parts.append(paragraph[at:found.end()])
        at = found.end()
    return [part for part in parts + [paragraph[at:]] if words(part)]


def words(text):
    return len([one for one in re.split(r"[\s—–/]+", text) if re.search(r"[^\W_]", one)])


def lost_stars(paragraph):
    """Stars that Markdown may take for emphasis and that begin or end none, as in z*."""
    text, opened, found = re.sub(r"\\\*", " ", without_code(paragraph)).replace("**", "  "), None, []
    for at in [one.start() for one in re.finditer(r"\*", text)]:
        left, right = text[at - 1:at] or " ", text[at + 1:at + 2] or " "
        if opened is None and re.match(r"[\s(\[“\"—–|:]", left) and not right.isspace():
            opened = at
        elif opened is not None and not left.isspace() and not re.match(r"\w", right):
            opened = None
        else:
            found.append(text[max(0, at - 10):at + 2].strip())
    return found + ([text[opened:opened + 12]] if opened is not None else [])


def site_anchor(title):
    """As the extension toc of Python's Markdown makes it."""
    title = unicodedata.normalize("NFKD", shown(title)).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


def code_host_anchor(title):
    return re.sub(r"[^\w\- ]", "", shown(title).strip().lower()).replace(" ", "-")


def anchors(text, anchor):
    found = set(re.findall(r"(?:id|name)=\"([^\"]+)\"", text))
    for _, title in Page(text).titles:
        base = anchor(title)
        count = 0
        while (name := base if not count else f"{base}{'_' if anchor is site_anchor else '-'}{count}") in found:
            count += 1
        found.add(name)
    return found


def wrong_link(path, text, target):
    if re.match(r"[a-z]+:", target) or not target:
        return ""
    name, _, anchor = target.partition("#")
    other = (path.parent / name).resolve() if name else path
    if not other.exists():
        relative = other.relative_to(ROOT).as_posix() if other.is_relative_to(ROOT) else ""
        cpp = re.fullmatch(r"docs/cpp/(\w+)\.md", relative)
        notebook = re.fullmatch(r"docs/(gallery/\w+)\.md", relative)
        python = relative.startswith("docs/reference/python_api")
        if (cpp and (ROOT / cpp[1]).is_dir()) or (notebook and (ROOT / "docs" / f"{notebook[1]}.ipynb").exists()) or python:
            return ""
        return f"no such file: {target}"
    if not anchor or other.suffix != ".md":
        return ""
    makers = [site_anchor] if path.is_relative_to(ROOT / "docs") else [code_host_anchor, site_anchor]
    other_text = other.read_text(encoding="utf-8") if name else text
    return "" if any(anchor in anchors(other_text, one) for one in makers) else f"no such anchor: {target}"


def problems(path, text, generated=False):
    """(line, kind, what) of a page."""
    page, found = Page(text), []
    for number, target in page.links:
        if what := wrong_link(path, text, target):
            found.append((number, "link", what))
    if path.name != "CHANGELOG.md" and (count := len(text.split())) > PAGE:
        found.append((1, "page", f"{count:,} words (at most {PAGE:,}). Shorten or split the page."))
    if generated:
        return found
    for number, paragraph in page.blocks:
        for sentence in sentences(plain(paragraph)):
            if (count := words(sentence)) > SENTENCE:
                found.append((number, "sentence", f"{count} words in a sentence: {sentence.strip()[:70]} …"))
        for star in lost_stars(paragraph):
            found.append((number, "star", f"a star outside code: {star}"))
    for number, row in page.rows:
        for cell in re.split(r"(?<!\\)\|", without_code(row)):
            for star in lost_stars(cell):
                found.append((number, "star", f"a star outside code: {star}"))
        if len(shown(row)) > ROW:
            found.append((number, "row", f"a row of {len(shown(row))} characters (at most {ROW})"))
    for number, line in page.blocks + page.rows + page.titles:
        bare = re.sub(r"\bhttps?://\S+", "URL", LINK.sub(lambda one: one[1] if not one[1].endswith(".md") else "LINK", without_code(line)))
        if one := re.search(r"(?:^|[\s(\[,|~≈<>≤≥=±+−–-])(\.\d+)", bare):
            found.append((number, "decimal", f"no leading zero: {one[1]}"))
        if one := re.search(r"[\w/.-]+\.md\b", bare):
            found.append((number, "name", f"a file name where a link should stand: {one[0]}"))
    for number, line in page.code:
        if len(line) > CODE:
            found.append((number, "code", f"a line of code of {len(line)} characters (at most {CODE})"))
    return sorted(set(found))


def pages():
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md"] + [one for one in [ROOT / "CHANGELOG.md"] if one.exists()] + found


def navigation():
    """Pages that the navigation of mkdocs.yml lacks or repeats, and those of docs/ that it names in vain."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = re.findall(r"([\w/.-]+\.md)\s*$", text, re.M)
    there = {one.relative_to(ROOT / "docs").as_posix() for one in (ROOT / "docs").rglob("*.md")} - {"README.md"}
    out = [f"mkdocs.yml: {one} stands twice in the navigation" for one in sorted({one for one in named if named.count(one) > 1})]
    out += [f"mkdocs.yml: {one} is not in the navigation" for one in sorted(there - set(named))]
    return out + [f"mkdocs.yml: no such page: {one}" for one in named
                  if one not in there and not MADE_BY_THE_SITE.fullmatch(f"docs/{one}") and not (ROOT / one).exists()]


def check(paths, whole):
    out, needed = navigation() if whole else [], set()
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        if MADE_BY_THE_SITE.fullmatch(name) and name not in GENERATED and path.stem != "index":
            continue
        excused = EXCEPTIONS.get(name, ((), ""))[0]
        for line, kind, what in problems(path, path.read_text(encoding="utf-8"), name in GENERATED):
            if kind in excused:
                needed.add((name, kind))
            else:
                out.append(f"{name}:{line}: {what}")
    if whole:
        for name, (kinds, reason) in EXCEPTIONS.items():
            out += [f"tools/docs/style.py: the exception {name}: {kind} ({reason}) is not needed" for kind in kinds if (name, kind) not in needed]
    return out


def self_test():
    """The checker finds what it is for, and nothing in a page that is right."""
    here = ROOT / "docs" / "index.md"
    kinds = lambda text: {kind for _, kind, _ in problems(here, text)}
    right = ("# Title\n\nA sentence of `z*` and *emphasis* with 0.3 and v1.2, **bold**. Another one, e.g. Fig. 3.\n\n"
             "    code = .5 * other.md\n\n| a | b |\n|---|---|\n| [link](index.md) | −0.2 |\n\n- an item, *so*\n\n        code = x* .3\n\n[here](#title)\n")
    assert not kinds(right), problems(here, right)
    assert kinds("word " * 31 + ".") == {"sentence"}
    assert not kinds("word " * 30 + ". " + "Word " * 30 + ".")
    assert not kinds('word "' + "quoted " * 40 + '".')
    assert kinds("Short words. " * 751) == kinds("```\n" + "code\n" * 1501 + "```\n") == {"page"} and not kinds("Short words. " * 750)
    assert kinds("It loses .3 nat.") == kinds("| −.3 |\n") == kinds("(.02 to .1)") == {"decimal"}
    assert kinds("The state z* and F(z*) = 0.") == kinds("| |z − z*|/|z*| |\n") == {"star"}
    assert kinds("As crossbars.md says.") == {"name"} and not kinds("As [crossbars](index.md) says, `a.md` too.")
    assert kinds("[x](nothing.md)") == kinds("[x](#nothing)") == kinds("[x\ny](nothing.md)") == {"link"}
    assert kinds("```\n" + "x" * 101 + "\n```") == {"code"} and kinds("| " + "x" * 201 + " |") == {"row"}
    assert not kinds("<!-- table t begin -->\n| " + "x" * 400 + " .3 |\n<!-- table t end -->\n")


def table(paths):
    total = [0, 0]
    print(f"{'page':48} {'words':>6} {'sentences':>9} {'mean':>5} {'longest':>7}")
    for path in paths:
        page = Page(path.read_text(encoding="utf-8"))
        counts = [words(one) for _, paragraph in page.blocks for one in sentences(plain(paragraph))]
        if not counts:
            continue
        total = [total[0] + sum(counts), total[1] + len(counts)]
        print(f"{path.relative_to(ROOT).as_posix():48} {sum(counts):6} {len(counts):9} {sum(counts) / len(counts):5.1f} {max(counts):7}")
    print(f"{'all':48} {total[0]:6} {total[1]:9} {total[0] / max(1, total[1]):5.1f}")


def main():
    self_test()
    given = [pathlib.Path(one).resolve() for one in sys.argv[1:] if not one.startswith("-")]
    if "--check" in sys.argv[1:] or given:
        found = check(given or pages(), not given)
        print("\n".join(found) if found else f"{len(given or pages())} pages")
        sys.exit(1 if found else 0)
    table([one for one in pages() if one.relative_to(ROOT).as_posix() not in GENERATED])


if __name__ == "__main__":
    main()
