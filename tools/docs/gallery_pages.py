# SPDX-License-Identifier: Apache-2.0
"""A hook of mkdocs: the executed notebooks of docs/gallery as pages.

nbconvert writes Markdown and the figures as files. Nothing is executed, and the pages fetch nothing: the plugins for notebooks
load MathJax and others from elsewhere when a page is read.
"""
from mkdocs.structure.files import File
from nbconvert import MarkdownExporter


def on_files(files, config):
    for notebook in [one for one in files if one.src_uri.startswith("gallery/") and one.src_uri.endswith(".ipynb")]:
        stem = notebook.src_uri.removesuffix(".ipynb")
        name = stem.rsplit("/", 1)[1]
        text, resources = MarkdownExporter().from_filename(notebook.abs_src_path, {"unique_key": name, "output_files_dir": name})
        note = f"\n---\nMade from [{name}.ipynb]({name}.ipynb), which runs in Jupyter as it is.\n"
        files.append(File.generated(config, stem + ".md", content=text + note))
        for path, data in resources["outputs"].items():
            files.append(File.generated(config, "gallery/" + path, content=data))
    return files
