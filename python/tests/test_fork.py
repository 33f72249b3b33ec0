# SPDX-License-Identifier: Apache-2.0
"""Processes forked from one whose threads have computed: they end, with the same numbers."""
import multiprocessing

import pytest

import nudge

SMALL = {"model": {"channels": 4, "tokens": 2, "memories": 4, "heads": 2}, "train": {"batch": 2, "steps": 3}, "threads": 2}


def loss_of(seed):
    return nudge.train({"seed": seed, **SMALL}).summary["validation_loss"]


def test_a_forked_pool_ends_with_the_losses_of_the_parent():
    here = [loss_of(1), loss_of(2)]  # the team of threads exists from now on
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(loss_of, [1, 2]).get(timeout=120) == here


def test_a_data_loader_with_workers_ends():
    data = pytest.importorskip("torch.utils.data")
    loss_of(1)

    class Losses(data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return loss_of(i + 1)

    found = [float(x) for x in data.DataLoader(Losses(), batch_size=None, num_workers=2, timeout=120)]
    assert found == pytest.approx([loss_of(1), loss_of(2)], abs=0)
