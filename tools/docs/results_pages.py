# SPDX-License-Identifier: Apache-2.0
"""A hook of mkdocs: the dated tables of results/ as pages of the site, results/NAME.md, and links between them and docs/.

In the repository results/ lies beside docs/: a page links to ../../results/NAME.md, and a table to ../docs/PAGE.md. On the site both are in one tree.
"""
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]


def on_files(files, config):
    for path in sorted((ROOT / "results").glob("*.md")):
        name = "index" if path.stem == "README" else path.stem
        text = path.read_text(encoding="utf-8").replace("](../docs/", "](../")
        files.append(File.generated(config, f"results/{name}.md", content=text))
    for path in sorted((ROOT / "results").glob("*.svg")):
        files.append(File.generated(config, f"results/{path.name}", content=path.read_bytes()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links of a page to results/, from its folder of the site."""
    folder = "../" * page.file.src_uri.count("/")
    return re.sub(r"\]\((?:\.\./)+results/(\w+)\.md", lambda link: f"]({folder}results/{'index' if link[1] == 'README' else link[1]}.md", markdown)
