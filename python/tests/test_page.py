# SPDX-License-Identifier: Apache-2.0
"""The blocks of Python in docs/ run: those of a page in order and in one namespace, in a folder with a link to examples/."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.S | re.M)
OPTIONAL = ("h5netcdf", "jax", "matplotlib", "networkx", "torch", "tqdm")


def pages():
    """The pages with blocks, by their path in docs/."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [str(page.relative_to(ROOT / "docs")) for page in found if BLOCK.search(page.read_text(encoding="utf-8"))]


def imported(code):
    """Names of modules that code imports, nudge.torch as torch."""
    return {name.removeprefix("nudge.").split(".")[0] for name in re.findall(r"^\s*(?:import|from) ([\w.]+)", code, flags=re.M)}


@pytest.mark.parametrize("page", pages() or ["none"])
def test_every_block_runs(page, tmp_path, monkeypatch):
    if page == "none":
        pytest.skip("docs/ is not here")
    path = ROOT / "docs" / page
    text = path.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    for name in imported("".join(block[1] for block in blocks)) & {*OPTIONAL, "plot"}:
        pytest.importorskip("matplotlib" if name == "plot" else name)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)  # where they may write
    monkeypatch.setenv("MPLBACKEND", "agg")
    space = {"__name__": "__main__"}
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(path), "exec"), space)  # errors name the line of the page


def test_the_pages_on_python_are_here():
    if not (ROOT / "docs").exists():
        pytest.skip("docs/ is not here")
    assert {"reference/python.md", "how_to/own_device.md", "how_to/own_parts.md", "how_to/pytorch.md"} <= set(pages())
