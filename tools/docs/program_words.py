# SPDX-License-Identifier: Apache-2.0
"""Checks the words that the program prints: texts of at least six words in the C++ of FOLDERS (help, keys, messages, reports).

    python3 tools/docs/program_words.py            # a table: texts, words per sentence and problems of every folder
    python3 tools/docs/program_words.py --check    # fails, with every problem of the kind, where LIMITS are exceeded
    python3 tools/docs/program_words.py FILE ...   # every problem of some files, as FILE:LINE: what is wrong

A sentence has at most 30 words (style.py counts them). A choice that is explained, as in "mean: ...", begins a sentence of its own behind a
full stop. Decimals have a leading zero. WORDS are the author's own where the field has a word. LIMITS are what is left: they only shrink.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from style import ROOT, SENTENCE, sentences, words  # noqa: E402

FOLDERS = ("apps", "training", "sim", "circuits", "devices", "netlist", "mixers", "python/src")
LIMITS = {"sentence": 0, "decimal": 0, "word": 0}
LEAST = 6  # words of a text that is looked at: shorter ones are names, units and parts of a sentence

TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)\"|\"(?P<text>(?:\\.|[^\"\\\n])*)\""
                   r"|'(?:\\[^\n]{1,4}|[^'\\\n])'|[^\s\"'/]+|['/]|\s+", re.S)
CHOICE = r"[a-z*][\w*]*(?:, [a-z*][\w*]*)*: "
WORDS = {  # what is found: what to say instead
    r"(?<!compare\.)\bentrants?\b": "method",
    r"\blanes?\b": "run alongside, baseline run",
    r"\bexact numbers\b": "digital (floating-point) weights",
    r"\bseeds (?:do not |do |cannot )?tell\b": "(not) significantly different",
    r"\b(?:training|validation|test) parts?\b": "training, validation or test split",
    r"\bplaces? (?:of|in) (?:the|its) grid\b": "grid point",
    r"\b(?:hold|holds|leaves out|leave out) 0\b": "contains 0, excludes 0",
    r"\bluck\b": "chance",
    r"(?<!there )\b(?:is|are) (?:no|none of)\b(?! longer| more than| better)": "is not a, must be",
    r"\bhave not\b(?! \w+(?:ed|n|t)\b)|\bhas not\b(?! \w+(?:ed|n|t)\b)": "does not have",
    r"\bwritten and verified\b": "write-verify",
    r"\bby turns\b": "time-multiplexed",
    r"\bruns? away\b|\bran away\b": "diverges",
    r"\ball the same\b": "anyway",
    r"\bso often\b": "at this interval",
    r"\bfounding note's\b": "of the founding note (founding_note.toml)",
}


def texts(source):
    """(line, text) of every string of C++; what the compiler joins is one."""
    found, line, joined = [], 1, False
    for token in TOKEN.finditer(source):
        text = token["text"] if token["text"] is not None else token["raw"]
        if text is not None:
            text = re.sub(r"\\([\"\\])", r"\1", text).replace("\\n", "\n")
            if joined:
                found[-1] = (found[-1][0], found[-1][1] + text)
            else:
                found.append((line, text))
            joined = True
        elif not token[0].isspace() and not token[0].startswith(("//", "/*")):
            joined = False
        line += token[0].count("\n")
    return [one for one in found if words(one[1]) >= LEAST and not re.search(r"[{;]\s*\n\s|: var\(|^\s*[*.]\w", one[1])]


def printed(text):
    """What a reader sees: no marks of HTML, a field of a format as one word."""
    return re.sub(r"\{[^{}]*\}", "VALUE", re.sub(r"<[^<>]*>", " ", text))


def split(text):
    """Sentences of a text: as in prose, by lines, and where the next choice is explained."""
    parts = [part for line in printed(text).split("\n") for part in re.split(rf"(?<=[.!?])\s+(?={CHOICE})", line)]
    return [one for part in parts for one in sentences(part)]


def problems(text):
    """(kind, what) of a text."""
    found = []
    for one in split(text):
        if (count := words(one)) > SENTENCE:
            found.append(("sentence", f"{count} words in a sentence: {one.strip()[:70]} …"))
    for one in re.finditer(r"(?:^|[\s(\[,|~<>=±+-])(\.\d+)", printed(text)):
        found.append(("decimal", f"no leading zero: {one[1]}"))
    for pattern, better in WORDS.items():
        found += [("word", f"\"{one[0]}\": say {better}") for one in re.finditer(pattern, printed(text))]
    return found


def of_file(path):
    return [(line, *one) for line, text in texts(path.read_text(encoding="utf-8")) for one in problems(text)]


def sources(folder):
    return sorted(one for one in (ROOT / folder).rglob("*.[ch]pp"))


def table():
    total = [0] * 6
    print(f"{'folder':10} {'texts':>6} {'words':>7} {'mean':>5} " + " ".join(f"{kind:>8}" for kind in LIMITS))
    for folder in (*FOLDERS, "all"):
        all_texts = [] if folder == "all" else [text for path in sources(folder) for _, text in texts(path.read_text(encoding="utf-8"))]
        lengths = [words(one) for text in all_texts for one in split(text)]
        kinds = [kind for text in all_texts for kind, _ in problems(text)]
        row = [len(all_texts), sum(lengths), len(lengths)] + [kinds.count(kind) for kind in LIMITS] if folder != "all" else total
        total = [a + b for a, b in zip(total, row)]
        print(f"{folder:10} {row[0]:6} {row[1]:7} {row[1] / max(1, row[2]):5.1f} " + " ".join(f"{one:8}" for one in row[3:]))


def check():
    found = [(kind, f"{path.relative_to(ROOT)}:{line}: {what}") for folder in FOLDERS for path in sources(folder) for line, kind, what in of_file(path)]
    out = []
    for kind, limit in LIMITS.items():
        those = [what for one, what in found if one == kind]
        print(f"{kind}: {len(those)} (at most {limit})")
        if len(those) > limit:
            out += those + [f"{len(those)} problems of the kind {kind}, at most {limit}: mend one of these (LIMITS of tools/docs/program_words.py only shrink)"]
    print("\n".join(out), end="\n" if out else "")
    return 1 if out else 0


def self_test():
    """The checker finds what it is for, and nothing in a text that is right."""
    long = "word " * 31
    assert texts(f'a("one two three " // "no"\n "four five six");\nb(\'"\', 1\'000, "x");') == [(1, "one two three four five six")]
    assert [kind for kind, _ in problems(long)] == ["sentence"] and not problems(f"{'word ' * 20}. mean, last: {'word ' * 20}.")
    assert [kind for kind, _ in problems("moves the nodes by .3 of their noise")] == ["decimal"] and not problems("by 0.3, {:.3f} or v.2 of it")
    assert [kind for kind, _ in problems("loss on the test part of the data")] == ["word"]
    assert not problems("which has not settled, is no longer known and contains 0") and not problems("where there is no damping in compare.entrants")


def main():
    self_test()
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    given = [pathlib.Path(one).resolve() for one in sys.argv[1:]]
    for path in given:
        for line, _, what in of_file(path):
            print(f"{path.relative_to(ROOT)}:{line}: {what}")
    if not given:
        table()


if __name__ == "__main__":
    main()
