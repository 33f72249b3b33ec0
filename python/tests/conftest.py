# SPDX-License-Identifier: Apache-2.0
"""Small configs that the tests share, and the program to compare with."""

import os
import shutil

import pytest

BLOCK = {
    "seed": 3,
    "threads": 1,
    "model": {"channels": 8, "tokens": 6, "memories": 12, "heads": 2},
    "train": {"steps": 6, "batch": 3, "evaluation_batches": 1, "test_batches": 1, "warmup": 2},
}


@pytest.fixture
def block():
    """A character block that trains in a fraction of a second."""
    return {**BLOCK, "model": dict(BLOCK["model"]), "train": dict(BLOCK["train"])}


@pytest.fixture
def program():
    """The program nudge of the same build."""
    path = os.environ.get("NUDGE_PROGRAM") or shutil.which("nudge")
    if not path or not os.path.exists(path):
        pytest.skip("NUDGE_PROGRAM does not name the program nudge")
    return path
