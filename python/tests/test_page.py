# SPDX-License-Identifier: Apache-2.0
"""The blocks of docs/python.md run, in order, in one namespace."""

import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_every_block_runs(capsys, tmp_path, monkeypatch):
    if not PAGE.exists():
        pytest.skip("docs/python.md is not here")
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert len(blocks) >= 7
    space = {}
    monkeypatch.chdir(tmp_path)  # where they may write
    for block in blocks:
        line = text[: text.index(block)].count("\n")
        exec(compile("\n" * line + block, str(PAGE), "exec"), space)  # errors name the line of the page
    assert "aep_anchored" in capsys.readouterr().out
