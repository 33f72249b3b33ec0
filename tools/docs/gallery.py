#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes the sources of the gallery, docs/gallery/NAME.py, into the notebooks beside them, NAME.ipynb with results and figures.

A source is a script in jupytext's percent format: it runs as it is, and its changes can be read. Notebooks are made, never edited. They hold no
times, paths or random identifiers, so that a run which gives the same results gives the same bytes.

    python3 tools/docs/gallery.py                # all of them; or some: gallery.py device spice
    python3 tools/docs/gallery.py --check        # executes nothing: whether the notebooks are those of their sources
"""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "gallery"
MOST_BYTES = 300_000  # a page is read on a phone, too
LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"


def sources():
    """The scripts of the gallery, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.py"))}


def read(source):
    """The notebook of a source, nothing executed."""
    import jupytext

    text = source.read_text(encoding="utf-8")
    notebook = jupytext.reads(text.removeprefix(LICENCE), fmt="py:percent")
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"{source.stem}-{number}", {}
    return notebook


def execute(notebook, folder=FOLDER, timeout=300):
    """Runs all cells in place. Raises nbclient's CellExecutionError, and RuntimeError for what a cell says on standard error."""
    from nbclient import NotebookClient

    # Figures: SVG with a fixed date; the kernel reads both from its environment.
    os.environ["MATPLOTLIBRC"] = str(ROOT / "tools" / "docs" / "matplotlibrc")
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    os.environ["NUDGE_PROGRESS"] = "0"
    os.environ.pop("MPLBACKEND", None)
    client = NotebookClient(notebook, timeout=timeout, kernel_name="python3", record_timing=False,
                            resources={"metadata": {"path": str(folder)}},
                            extra_arguments=["--InlineBackend.figure_formats=svg", "--log-level=40"])
    client.execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise RuntimeError(f"a cell wrote to standard error:\n{output['text']}\n{cell.source}")
            if "image/svg+xml" in output.get("data", {}):
                output["data"].pop("text/plain", None)
        if cell.cell_type == "code":
            cell.metadata = {}
    return notebook


def is_of(notebook, source):
    """Whether a notebook has the cells of its source."""
    return [(c.cell_type, c.source) for c in notebook.cells] == [(c.cell_type, c.source) for c in read(source).cells]


def main(arguments):
    import nbformat

    known = sources()
    check = arguments[:1] == ["--check"]
    names = arguments[check:] or list(known)
    if not set(names) <= set(known):
        sys.exit(f"unknown: {', '.join(sorted(set(names) - set(known)))} (known: {', '.join(known)})")
    for name in names:
        target = FOLDER / f"{name}.ipynb"
        if check:
            if not target.exists() or not is_of(nbformat.read(target, as_version=4), known[name]):
                sys.exit(f"{target.name} is not of {name}.py: make gallery")
            continue
        print(f"docs/gallery/{name}.ipynb", flush=True)
        text = nbformat.writes(execute(read(known[name]))) + "\n"
        if len(text.encode()) > MOST_BYTES:
            sys.exit(f"{target.name}: {len(text.encode())} bytes (at most {MOST_BYTES}: fewer points, or rasterized=True)")
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
