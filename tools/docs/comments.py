# SPDX-License-Identifier: Apache-2.0
"""Counts the words of the comments that the C++ reference shows: /// in the public headers, without bodies and private parts.

    python3 tools/docs/comments.py            # a table: words, sentences, words per sentence and long sentences of every library
    python3 tools/docs/comments.py --check    # fails where a library has more long sentences or words of ours than LIMITS
    python3 tools/docs/comments.py FOLDER ... # prints what is counted, as HEADER:LINE; -n WORDS: sentences above another length
    python3 tools/docs/comments.py --same COMMIT   # fails where a header of the commit differs in more than comments

An equation counts as one word: what operators join, code in backticks, a call with its arguments. An indented line is an equation or a table.
Words of ours (OURS) are those for which the field has others. LIMITS may only fall.
"""
import pathlib
import re
import subprocess
import sys

import cpp_reference
import style
from generated import ROOT

LONG = 30
# Library: (sentences of more than LONG words, words of ours, comments that do not name their subject).
LIMITS = {"sim": (0, 0, 0), "devices": (0, 0, 0), "netlist": (0, 0, 0), "circuits": (0, 0, 0), "mixers": (0, 0, 0), "training": (0, 0, 0), "apps": (0, 0, 0)}
OURS = re.compile(r"\b(?:that of|those of|what is|(?:test|validation) part|run's lanes?|lanes? of (?:a|the) run)\b|(?<![/.\w])entrants?\b|(?<![\w.])\.\d+\b")
WHAT = {"long": f"sentences of more than {LONG} words", "ours": "words for which the field has others", "nameless": "comments that do not name their subject"}
# A comment begins with a noun or a verb, and makes sense without the line above.
NAMELESS = re.compile(r"(?:What|Of|The same|That|Those|Whether|Where|Which|How)\b")
OPERATOR = r"(?:=|:=|<=|>=|<-|->|==|!=|[-+*/<>~≈≤≥·∘×−]|\bo\b)"
TERM = r"[^\s;:]*[^\s;:,.]"


def equations_as_words(text):
    """Equations, calls and code as one word each."""
    text = re.sub(r"`[^`]*`", "CODE", text)
    while (shorter := re.sub(r"\(([^()]*[=<>*+/^_,][^()]*|[\w, ]{,12})\)(?=[\w^'*]|\s*" + OPERATOR + r"\s)|(?<=\w)\([^()]*\)", "X", text)) != text:
        text = shorter
    while (shorter := re.sub(rf"{TERM} {OPERATOR} (?:{OPERATOR} )?{TERM}", "EQUATION", text)) != text:
        text = shorter
    return text


def paragraphs(path):
    """(line, text) of every paragraph of the shown comments of a header."""
    shown, _ = cpp_reference.declarations(path)
    source = path.read_text(encoding="utf-8").split("\n")
    out, block, at, listed = [], [], 0, False

    def end():
        if block:
            out.append((block[0][0], " ".join(text for _, text in block)))
            block.clear()

    behind = None  # the column of a comment behind code, which lines below continue
    for line in shown.split("\n"):
        found = re.match(r"(.*?)///(<?)( ?)(.*)$", line)
        if not found:
            end()
            behind, listed = None, False
            continue
        at = next((n for n in range(at, len(source)) if source[n].strip().endswith(found[0].strip())), at)
        column, text = len(found[1]), found[4]
        if found[1].strip():
            end()
            behind = column
        elif behind not in (None, column):
            end()
            behind = None
        if not text.strip() or re.match(r"\s{4,}\S|\s{2,}\S.*\S {2,}\S", text):
            end()
        else:
            item = re.match(r"\s*(?:-|\d+\.) ", text)
            if item or (listed and not text.startswith(" ")):
                end()
                listed = bool(item) and "-" in item[0]
                text = text[item.end():] if item else text
            block.append((at + 1, text.strip()))
    end()
    return out


def sentences(path):
    for line, paragraph in paragraphs(path):
        for part in style.sentences(equations_as_words(paragraph)):
            # A sentence may begin with a name in lower case: no journal does.
            for one in re.split(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<! cf\.)(?<! al\.)(?<! vs\.) (?=[a-z])", part):
                if style.words(one):
                    yield line, style.words(one), one.strip()


def counts(library):
    found = [one for path in cpp_reference.headers(library) for one in sentences(path)]
    return {"words": sum(words for _, words, _ in found), "sentences": len(found), "25": sum(words > 25 for _, words, _ in found),
            "long": sum(words > LONG for _, words, _ in found), "ours": sum(len(OURS.findall(text)) for _, _, text in found),
            "nameless": sum(bool(NAMELESS.match(text)) for path in cpp_reference.headers(library) for _, text in paragraphs(path)),
            "longest": max(words for _, words, _ in found)}


def check():
    out = []
    for library in cpp_reference.LIBRARIES:
        found = counts(library)
        for (kind, what), limit in zip(WHAT.items(), LIMITS.get(library, (0, 0, 0))):
            if found[kind] > limit:
                out.append(f"{library}/: {found[kind]} {what}, at most {limit}. Run: python3 tools/docs/comments.py {library}")
    return out


def without_comments(text):
    """What the compiler sees, its white space reduced."""
    out, at = [], 0
    for place, mark in cpp_reference.code_from(text + "\n", 0):
        out.append(text[at:place] if text[at:place][:1] in "\"'" else "")
        out.append(mark)
        at = place + 1
    return re.sub(r"\s+", " ", "".join(out)).strip()


def changed(commit):
    """Headers that differ from those of a commit in more than comments."""
    out, same = [], 0
    names = subprocess.run(["git", "diff", "--name-only", "--diff-filter=M", commit, "--", "*.hpp"], cwd=ROOT, text=True, capture_output=True, check=True).stdout.split()
    for name in names:
        before = subprocess.run(["git", "show", f"{commit}:{name}"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
        if without_comments(before) != without_comments((ROOT / name).read_text(encoding="utf-8")):
            out.append(f"{name}: more than comments differs from {commit}")
        same += 1
    return out, same


def self_test():
    assert equations_as_words("F(z) = -s + W z (eq. 3)") == "EQUATION z (eq. 3)", equations_as_words("F(z) = -s + W z (eq. 3)")
    assert style.words(equations_as_words("adds `a b c`, f(x, y, z) and x <- x + 2 y / z.")) == 6
    assert OURS.search("as that of x") and OURS.search("is .3 of") and not OURS.search("is 0.3 of 1.5")
    assert without_comments("int a; // b\n") == without_comments("/// c\nint a;\n") != without_comments('int a = "//";\n')


def main():
    self_test()
    arguments = sys.argv[1:]
    if arguments[:1] == ["--check"]:
        problems = check()
        sys.exit("\n".join(problems)) if problems else print(f"comments of {len(cpp_reference.LIBRARIES)} libraries")
    elif arguments[:1] == ["--same"]:
        problems, same = changed(arguments[1])
        sys.exit("\n".join(problems)) if problems else print(f"{same} headers differ in comments alone")
    elif arguments:
        least = LONG
        if "-n" in arguments:
            at = arguments.index("-n")
            least = int(arguments[at + 1])
            del arguments[at:at + 2]
        for folder in arguments:
            given = ROOT / folder
            for path in [given] if given.suffix else sorted(given.rglob("*.hpp")):
                for line, words, text in sentences(path):
                    if words > least or OURS.search(text):
                        print(f"{path.relative_to(ROOT)}:{line}: {words} words: {text}")
                for line, text in paragraphs(path):
                    if NAMELESS.match(text):
                        print(f"{path.relative_to(ROOT)}:{line}: names no subject: {text}")
    else:
        print(f"{'library':10} {'words':>6} {'sentences':>9} {'mean':>5} {'> 25':>5} {'> 30':>5} {'longest':>7} {'ours':>4} {'nameless':>8}")
        total = [counts(library) for library in cpp_reference.LIBRARIES]
        for library, one in zip([*cpp_reference.LIBRARIES, "all"], [*total, {key: (max if key == "longest" else sum)(one[key] for one in total) for key in total[0]}]):
            print(f"{library:10} {one['words']:6} {one['sentences']:9} {one['words'] / one['sentences']:5.1f} {one['25']:5} {one['long']:5} {one['longest']:7} {one['ours']:4} {one['nameless']:8}")


if __name__ == "__main__":
    main()
