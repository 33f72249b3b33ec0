# SPDX-License-Identifier: Apache-2.0
"""The notebooks of docs/gallery: every source executes, its last cell checks its text, and the notebook beside it has its cells.

Executing all of them takes longer than a minute: marked slow (``make slow``, or ``pytest -m slow``).
"""

import pathlib
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if not (ROOT / "docs" / "gallery").is_dir():
    pytest.skip("docs/gallery is not here", allow_module_level=True)
sys.path.insert(0, str(ROOT / "tools" / "docs"))
import gallery  # noqa: E402

NAMES = list(gallery.sources())


def needs(*modules):
    for module in modules:
        pytest.importorskip(module, reason=f"{module} is not installed (tools/docs/gallery_requirements.txt): no notebook is executed")


def test_there_are_eight():
    assert len(NAMES) >= 8
    page = (gallery.FOLDER / "index.md").read_text(encoding="utf-8")
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"({name}.ipynb)" in page and f"gallery/{name}.md" in site, name


@pytest.mark.parametrize("name", NAMES)
def test_notebook_is_of_its_source(name):
    needs("nbformat", "jupytext")
    import nbformat

    path = gallery.FOLDER / f"{name}.ipynb"
    assert path.stat().st_size < gallery.MOST_BYTES
    notebook = nbformat.read(path, as_version=4)
    assert gallery.is_of(notebook, gallery.sources()[name]), "make gallery"
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert any("image/svg+xml" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
    notebook.cells[0].source += " changed"
    assert not gallery.is_of(notebook, gallery.sources()[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_notebook_executes(name, tmp_path):
    needs("nbclient", "jupytext", "ipykernel", "matplotlib")
    if "import torch\n" in gallery.sources()[name].read_text(encoding="utf-8"):
        needs("torch")
    folder = tmp_path / "docs" / "gallery"  # as in a clone: ../../examples
    folder.mkdir(parents=True)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for stored in gallery.FOLDER.glob("*.txt"):
        shutil.copy(stored, folder)
    gallery.execute(gallery.read(gallery.sources()[name]), folder)
