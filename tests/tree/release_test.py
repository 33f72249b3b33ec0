# SPDX-License-Identifier: Apache-2.0
"""One version, that of project() in CMakeLists.txt: whatever else names it says the same. The package of Python reads it, by the rule in pyproject.toml."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = re.compile(r"^project\(nudge VERSION (\d+\.\d+\.\d+) ", re.M)
# File: the place that names the version. Each must be there exactly once.
NAMED = {
    "CITATION.cff": r"^version: (.+)$",
    "docs/project/cite.md": r"note   = \{version ([^,]+),",
    "docs/project/versioning.md": r"; this is (.+)\. \*\*",
    "docs/start/install.md": r"pip install nudge_ep-(.+)\.tar\.gz`",
    "packaging/README.md": r"build version (\S+):",
    "packaging/conda/recipe.yaml": r'^  version: "(.+)"$',
    "packaging/spack/spack_repo/nudge/packages/py_nudge_ep/package.py": r'^    version\("(.+)"\)',
}


def text(name):
    return (ROOT / name).read_text()


class Version(unittest.TestCase):
    def setUp(self):
        self.version = SOURCE.search(text("CMakeLists.txt")).group(1)

    def test_is_the_same_everywhere(self):
        for name, pattern in NAMED.items():
            self.assertEqual(re.findall(pattern, text(name), re.M), [self.version], name)

    def test_python_reads_it(self):
        project = text("pyproject.toml")
        self.assertIn('dynamic = ["version"]', project)
        self.assertNotRegex(project, r'(?m)^version = "')
        rule = re.search(r"^regex = '(.+)'$", project, re.M).group(1)
        self.assertEqual(re.search(rule, text("CMakeLists.txt")).group("value"), self.version)

    def test_change_log_begins_with_it_and_its_date(self):
        # A release has one date, in the change log and in the citation; before it, none.
        title = re.search(r"^## (.+)$", text("CHANGELOG.md"), re.M).group(1)
        dates = re.findall(r"^date-released: (\d{4}-\d\d-\d\d)$", text("CITATION.cff"), re.M)
        self.assertEqual(title, f"{self.version}, {dates[0]}" if dates else f"{self.version}, not released yet")

    def test_sources_are_whole(self):
        # A pattern without a leading slash holds at any depth: "build*" left out sim/base/build_info.cpp.
        left_out = re.findall(r'"([^"]+)"', re.search(r"^sdist\.exclude = \[(.*?)^\]", text("pyproject.toml"), re.M | re.S).group(1))
        self.assertTrue(left_out)
        for pattern in left_out:
            self.assertTrue(pattern.startswith("/"), pattern)
        built = set(re.findall(r"add_subdirectory\((\w+)\)", text("CMakeLists.txt"))) - {"tests", "bench"}
        self.assertFalse({f"/{folder}" for folder in built} & set(left_out))

    def test_distribution_is_not_the_other_projects(self):
        # `nudge` on the index of packages is another project: a page may say so, and nothing may install it.
        for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
            for line in page.read_text().splitlines():
                if re.search(r"pip install ['\"]?nudge(?!-ep)\b", line):
                    self.assertRegex(line, r"`pip install nudge`|another project", f"{page}: {line}")


if __name__ == "__main__":
    unittest.main()
