# SPDX-License-Identifier: Apache-2.0
"""The public headers as pages of the site, one per library: every declaration with its comments, without bodies and private parts.

As a hook of mkdocs it adds cpp/<library>.md; a header of a library that `cmake --install` installs and that is not on its page is an error.

    python3 tools/docs/cpp_reference.py --check     # the same without mkdocs: every header, every documented type, no bodies
    python3 tools/docs/cpp_reference.py HEADER      # prints one
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # mkdocs loads hooks by their file
import generated  # noqa: E402
from generated import ROOT  # noqa: E402

LIBRARIES = {
    "sim": "What settles: states, dynamics, solvers, spectra; and the base: random numbers, units, config, HDF5, parallel loops.",
    "devices": "One element: device models, presets, fits, virtual measurements.",
    "netlist": "Circuits as SPICE netlists draw them: reader, equations, operating points, transients.",
    "circuits": "Elements wired: linear maps, crossbars, wires, programming, circuits of nodes and terms, SPICE.",
    "mixers": "Digital reference paths: tapes, attention and the other mixers.",
    "training": "Learning: costs, estimators, networks, tasks, runs, checks, sweeps, config.",
    "apps": "The program: its commands, for a program with parts of its own.",
}
INSTALL = (ROOT / "cmake" / "NudgeInstall.cmake").read_text(encoding="utf-8")
SINGLE = {folder: re.findall(rf"\b{folder}/\w+\.hpp", INSTALL) for folder in ["apps"]}  # of which not all are installed


class Unreadable(Exception):
    """A header that this reader does not understand."""


def installed_libraries():
    """The folders whose headers cmake --install installs."""
    return re.search(r"install\(DIRECTORY ((?:\w+ )+)DESTINATION", INSTALL)[1].split() + [one for one in SINGLE if SINGLE[one]]


def headers(library):
    return sorted(ROOT / one for one in SINGLE[library]) if library in SINGLE else sorted((ROOT / library).rglob("*.hpp"))


def skip_quoted(text, i):
    """Past the literal that starts at i."""
    quote, i = text[i], i + 1
    while text[i] != quote:
        i += 2 if text[i] == "\\" else 1
    return i + 1


def is_quote(text, i):
    """A literal starts at i: a ' between digits separates them."""
    return text[i] == '"' or (text[i] == "'" and not (i and text[i - 1].isalnum()))


def code_from(text, i):
    """(place, character) of all from i on that is neither comment nor literal."""
    while i < len(text):
        if text.startswith("//", i):
            i = text.index("\n", i)
        elif is_quote(text, i):
            i = skip_quoted(text, i)
            continue
        else:
            yield i, text[i]
        i += 1


def matching(text, i):
    """The place of the brace that closes the one at i."""
    depth = 0
    for at, mark in code_from(text, i):
        depth += (mark == "{") - (mark == "}")
        if mark == "}" and depth == 0:
            return at
    raise Unreadable("a brace is not closed")


def declaration_end(text, i):
    """The place of the ; or { that ends the declaration, or its head, that starts at i."""
    depth = 0
    for at, mark in code_from(text, i):
        depth += (mark in "([") - (mark in ")]")
        if mark in "{;" and depth == 0:
            return at
    raise Unreadable(f"a declaration has no end: {text[-60:]!r}")


def after_semicolon(text, i):
    end = declaration_end(text, i)
    while text[end] == "{":
        end = declaration_end(text, matching(text, end) + 1)
    return end + 1


TYPE = re.compile(r"(?:template\s*<.*?>\s*)?(?:class|struct|union)\s+(?:\w+::)*\w+(?:\s*<[^{;()]*>)?(?:\s+final)?\s*(?::[^:].*)?$", re.S)


def plain(head):
    """Without the comments."""
    return re.sub(r"//[^\n]*", "", head).strip()


def without_body(head):
    """The head of a function without the list that initialises members."""
    found = re.search(r"\)\s*(?:noexcept\s*)?:(?!:)", head)
    return (head[: found.start() + 1] if found else head).rstrip()


class Reader:
    """What of a header is public, as text."""

    def __init__(self):
        self.out = []
        self.types = []

    def scope(self, text, in_class, hidden=False, indent=""):
        i = 0
        while i < len(text):
            if text[i].isspace():
                if not hidden:
                    self.out.append(text[i])
                i += 1
            elif text.startswith("//", i):
                end = text.index("\n", i)
                if not hidden and text.startswith("///", i):
                    self.out.append(text[i:end])
                i = end
            elif in_class and (access := re.compile(r"(public|protected|private)\s*:(?!:)").match(text, i)):
                hidden = access[1] == "private"
                if not hidden:
                    while self.out and self.out[-1].isspace():
                        self.out.pop()
                    self.out.append(f"\n{indent} {access[0]}")
                i = access.end()
            else:
                i = self.declaration(text, i, hidden)

    def declaration(self, text, i, hidden):
        end = declaration_end(text, i)
        head = text[i:end]
        bare = plain(head)
        if text[end] == ";" or bare.endswith("=") or re.match(r"(template\s*<.*?>\s*)?concept\b|enum\b", bare, re.S) or self.is_value(bare):
            stop = end + 1 if text[end] == ";" else after_semicolon(text, i)
            if not hidden:
                self.out.append(text[i:stop])
            return stop
        close = matching(text, end)
        if re.match(r"(inline\s+)?namespace\b", bare):
            if bare not in ("namespace",) and not re.search(r"\bdetail\b", bare):
                self.scope(text[end + 1 : close], False)
            return close + 1
        if TYPE.match(bare):
            if not hidden:
                named = re.sub(r"^template\s*<.*?>\s*(?=class|struct|union)", "", bare, flags=re.S)
                self.types.append(re.match(r"\w+\s+((?:\w+::)*\w+)", named)[1])
                indent = re.search(r"[ \t]*$", text[:i].rpartition("\n")[2])[0]
                self.out.append(head.rstrip() + " {")
                self.scope(text[end + 1 : close], True, bool(re.match(r"(template\s*<.*?>\s*)?class\b", bare, re.S)), indent)
                while self.out and self.out[-1].isspace():
                    self.out.pop()
                self.out.append(f"\n{indent}}};")
            return after_semicolon(text, close + 1)
        if not hidden and bare:
            self.out.append(without_body(head) + ";")
        after = re.compile(r"\s*;").match(text, close + 1)
        return after.end() if after else close + 1

    @staticmethod
    def is_value(bare):
        """A variable or member with braces behind its name."""
        return "(" not in bare and not re.search(r"\b(class|struct|union|namespace)\b", bare) and bool(re.search(r"\w\s+\w+$|>\s*\w+$", bare))


def declarations(path):
    """(text, names of the types) of a header."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*\n", "", text, flags=re.M)  # preprocessor lines, continued ones too
    reader = Reader()
    try:
        reader.scope(text + "\n", False)
    except (Unreadable, IndexError, ValueError) as error:
        raise Unreadable(f"{path.relative_to(ROOT)}: {error}") from error
    found = "".join(reader.out)
    found = re.sub(r"[ \t]+\n", "\n", found)
    found = re.sub(r"\n\s*(?:public|protected):\s*(?=\n\s*\n?\s*(?:};|protected:|public:))", "", found)
    return re.sub(r"\n{3,}", "\n\n", found).strip("\n") + "\n", reader.types


def page(library):
    lines = [f"# C++: {library}/", "", LIBRARIES[library], "", "Made from the headers that `cmake --install` installs: declarations with their comments, "
             "without bodies and private parts. Everything is in the namespace `nudge`; an installed header is included from the root, "
             f"`#include \"{headers(library)[0].relative_to(ROOT)}\"`.", ""]
    for path in headers(library):
        text, _ = declarations(path)
        shown = ["```cpp", text.rstrip("\n"), "```"] if text.strip() else ["Nothing public: a part of what includes it."]
        lines += [f"## {path.relative_to(ROOT)}", "", *shown, ""]
    return "\n".join(lines)


def problems():
    """What is missing from the pages, or should not be on them."""
    found = []
    if sorted(installed_libraries()) != sorted(LIBRARIES):
        found.append(f"libraries {sorted(LIBRARIES)} have a page, {sorted(installed_libraries())} are installed")
    for library in LIBRARIES:
        try:
            text = page(library)
        except Unreadable as error:
            found.append(str(error))
            continue
        for path in headers(library):
            name = str(path.relative_to(ROOT))
            if f"\n## {name}\n" not in text:
                found.append(f"{name} is not on the page of {library}")
            shown, types = declarations(path)
            source = path.read_text(encoding="utf-8")
            # Parts of an implementation, in namespaces of their own or none.
            source = re.sub(r"^namespace (?:\w+::)?detail \{.*?^\}  // namespace \S*detail$", "", source, flags=re.M | re.S)
            source = re.sub(r"^namespace \{.*?^\}  // namespace$", "", source, flags=re.M | re.S)
            # Independent of the reader above: types at the left margin, and functions that a comment is in front of.
            for one in re.findall(r"^(?:class|struct) (\w+)(?: final)?(?: : [^;{]*)?\s*\{", source, flags=re.M):
                if not re.search(rf"\b(?:class|struct) {one}\b", shown) or one not in types:
                    found.append(f"{name}: {one} is missing")
            for one in re.findall(r"^///[^\n]*\n(?:template <[^\n]*>\n)?[\w:<>,&* ]+?[ &*](\w+)\(", source, flags=re.M):
                if not re.search(rf"\b{one}\(", shown):
                    found.append(f"{name}: {one}() is missing")
            if re.search(r"^\s*(?:return\b|for \(|if \(|while \()", shown, flags=re.M):
                found.append(f"{name}: a body is shown")
            if shown.count("{") != shown.count("}") and not re.search(r"['\"][{}]['\"]|///.*[{}]", shown):
                found.append(f"{name}: braces do not match")
            if re.search(r"^ *private:", shown, flags=re.M):
                found.append(f"{name}: a private part is shown")
    return found


def on_files(files, config):
    missing = problems()
    return generated.add_to_site(files, config, missing, {} if missing else {f"cpp/{library}.md": page(library) for library in LIBRARIES})


if __name__ == "__main__":
    generated.show_or_check(__doc__, lambda header: declarations(pathlib.Path(header).resolve())[0], problems,
                            lambda: f"{sum(len(headers(one)) for one in LIBRARIES)} headers of {len(LIBRARIES)} libraries")
