# SPDX-License-Identifier: Apache-2.0
"""A hook of mkdocs: links of pages to files outside docs/ work in the site, and results/*.md are pages of it.

On disk and on a code host a page links `../../results/rules.md` or `../../examples/digits.toml`. The site has the first as the page
results/rules.md, and a copy of the second under repository/. A folder has no copy: its link becomes its text.
"""
import os
import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Code, in which nothing is a link, or a link, whose text may have code: (text in brackets, target, anchor), all None for code.
LINK = re.compile(r"^```.*?^```$|(!?\[(?:`[^`\n]+`|[^\[\]`]|\[[^\]]*\])*\])\(([^()\s#:]+)(#[^()\s]*)?\)|`[^`\n]+`", re.M | re.S)


def repository_path(uri):
    """Where a page of the site lies in the repository."""
    return uri if uri.startswith("results/") else f"docs/{uri}"


def site_path(path):
    """Where a file of the repository is in the site."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if re.fullmatch(r"results/[\w.-]+", path) else f"repository/{path}"


def target_of(uri, link):
    """The file of the repository that a link of a page names, or None for what is no file there."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(repository_path(uri)), link))
    return path if not path.startswith("..") and (ROOT / path).exists() else None


def outside(uri, markdown):
    """The files outside docs/ that a page links."""
    for found in LINK.finditer(markdown):
        path = target_of(uri, found[2]) if found[2] else None
        if path and not path.startswith("docs/"):
            yield path


def on_files(files, config):
    for page in sorted((ROOT / "results").glob("*.md")):
        files.append(File.generated(config, f"results/{page.name}", content=page.read_text(encoding="utf-8")))
    wanted = set()
    for one in files:
        if one.src_uri.endswith(".md") and not one.src_uri.startswith("cpp/"):
            wanted |= set(outside(one.src_uri, one.content_string))
    for path in sorted(wanted):
        if (ROOT / path).is_file() and files.get_file_from_path(site_path(path)) is None:
            # Markdown would become a page: it is shown as text, as every other file.
            name = site_path(path) + (".txt" if path.endswith(".md") else "")
            files.append(File.generated(config, name, content=(ROOT / path).read_bytes()))
    return files


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri

    def moved(found):
        path = target_of(uri, found[2]) if found[2] else None
        if path is None or (path.startswith("docs/") and not uri.startswith("results/")):
            return found[0]
        if (ROOT / path).is_dir():
            return found[1].lstrip("!")[1:-1]
        name = site_path(path)
        if name.startswith("repository/") and name.endswith(".md"):
            name += ".txt"
        return f"{found[1]}({os.path.relpath(name, posixpath.dirname(uri) or '.')}{found[3] or ''})"

    return LINK.sub(moved, markdown)
