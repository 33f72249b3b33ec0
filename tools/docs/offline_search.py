# SPDX-License-Identifier: Apache-2.0
"""A hook of mkdocs: the search works from the disk, and nothing is fetched for it.

The plugin `offline` writes the index as a script. The theme then fetches a stand-in for workers from elsewhere when a page is read; this hook
puts tools/docs/iframe_worker.js in its place. A page that would still fetch a script, a style or a picture is an error.
"""
import pathlib
import posixpath
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

NAME = "assets/iframe_worker.js"
FETCHED = "https://unpkg.com/iframe-worker/shim"


def on_files(files, config):
    files.append(File.generated(config, NAME, content=(pathlib.Path(__file__).parent / "iframe_worker.js").read_text(encoding="utf-8")))
    return files


def local(output, url):
    output = output.replace(FETCHED, posixpath.relpath(NAME, posixpath.dirname(url) or "."))
    if found := re.search(r"<(?:script|img|iframe|source)[^>]* src=\"?https?:[^\"> ]*|<link[^>]* rel=\"?stylesheet[^>]* href=\"?https?:[^\"> ]*", output):
        raise PluginError(f"{url} fetches {found[0]}")
    return output


def on_post_page(output, page, config):
    return local(output, page.url)


def on_post_template(output, template_name, config):
    return local(output, template_name) if template_name.endswith(".html") else output
