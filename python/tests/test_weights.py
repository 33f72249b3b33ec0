# SPDX-License-Identifier: Apache-2.0
"""Weights from files: model.weights, --weights."""

import json
import struct
import subprocess

import numpy as np
import pytest

import nudge
from nudge.config import source_of


def save_safetensors(path, arrays):
    """The format by hand: length, JSON header, data."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, value in arrays.items():
        kind = {"f4": "F32", "f8": "F64", "f2": "F16"}[value.dtype.str[1:]]
        header[name] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [len(data), len(data) + value.nbytes]}
        data += value.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@pytest.fixture
def weights(block):
    return nudge.Network(block, seed=42).state_dict()


def same(net, weights):
    return all(np.array_equal(net.parameters[name], value) for name, value in weights.items())


def test_every_format(block, weights, tmp_path):
    np.savez(tmp_path / "w.npz", **weights)
    save_safetensors(tmp_path / "w.safetensors", weights)
    for name in ("w.npz", "w.safetensors"):
        assert same(nudge.Network(block, model__weights=tmp_path / name), weights), name
    run = nudge.train(block, out=tmp_path / "run.h5")
    trained = {name: value.values for name, value in run.parameters.data_vars.items()}
    assert same(nudge.Network(block, model__weights=tmp_path / "run.h5"), trained) and not same(nudge.Network(block), trained)


def test_half_precision(block, weights, tmp_path):
    half = {name: value.astype(np.float16) for name, value in weights.items()}
    save_safetensors(tmp_path / "w.safetensors", half)
    net = nudge.Network(block, model__weights=tmp_path / "w.safetensors")
    assert same(net, {name: value.astype(np.float32) for name, value in half.items()})


def test_the_program_starts_from_them(block, weights, program, tmp_path):
    np.savez(tmp_path / "w.npz", **weights)
    (tmp_path / "c.toml").write_text(source_of(block, {}).text)
    subprocess.run([program, "train", tmp_path / "c.toml", "--weights", tmp_path / "w.npz", "--out", tmp_path / "p.h5"],
                   check=True, capture_output=True)
    ours = nudge.train(block, model__weights=tmp_path / "w.npz")
    assert np.array_equal(nudge.open(tmp_path / "p.h5").train.loss, ours.train.loss)
    assert not np.array_equal(ours.train.loss, nudge.train(block).train.loss)
    subprocess.run([program, "gradcheck", tmp_path / "c.toml", "--weights", tmp_path / "w.npz"], check=True,
                   capture_output=True)


def test_what_is_wrong_with_a_file(block, weights, tmp_path):
    def refused(change, message):
        arrays = dict(weights)
        change(arrays)
        np.savez(tmp_path / "w.npz", **arrays)
        with pytest.raises(nudge.InputError, match=message):
            nudge.Network(block, model__weights=tmp_path / "w.npz")

    refused(lambda a: a.pop("Wm"), "has no parameter Wm")
    refused(lambda a: a.update(Wmm=a.pop("Wm")), "no parameter Wmm .*did you mean Wm")
    refused(lambda a: a.update(Wm=a["Wm"].T.copy()), "the transpose")
    refused(lambda a: a.update(Wm=a["Wm"] * np.nan), "not finite")
    save_safetensors(tmp_path / "w.safetensors", weights)
    whole = (tmp_path / "w.safetensors").read_bytes()
    for cut in (4, 60, len(whole) - 9):
        (tmp_path / "w.safetensors").write_bytes(whole[:cut])
        with pytest.raises(nudge.InputError, match="truncated"):
            nudge.Network(block, model__weights=tmp_path / "w.safetensors")
    with pytest.raises(nudge.InputError, match="does not exist"):
        nudge.Network(block, model__weights=tmp_path / "none.npz")
