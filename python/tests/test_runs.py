# SPDX-License-Identifier: Apache-2.0
"""Run files as Datasets: by nudge.open, and by xarray alone."""

import os

import h5py
import numpy as np
import pytest
import xarray as xr

import nudge


@pytest.fixture
def path(block, tmp_path):
    nudge.train(block, out=tmp_path / "run.h5", train__cosine_every=2, train__beside="bptt")
    return tmp_path / "run.h5"


def test_open(path):
    run = nudge.open(path)
    assert run.attrs["kind"] == "train" and run.attrs["seed"] == 3
    assert run.train.loss.dims == ("step",)
    assert list(run.train.step.values) == [1, 2, 3, 4, 5, 6] or list(run.train.step.values) == [0, 1, 2, 3, 4, 5]
    assert run.train.loss.attrs["units"] == "nat" and run.train.loss.attrs["long_name"]
    assert run["parameters"].Wm.shape == (8, 12)
    assert run.config["model"]["channels"] == 8
    assert set(run.groups) > {"train", "parameters", "beside/train"} and "train" in dir(run)
    with pytest.raises(KeyError, match="no group 'trains'"):
        run["trains"]
    with pytest.raises(AttributeError):
        run.trains


@pytest.mark.parametrize("group", ["train", "parameters", "beside/train", "events"])
def test_xarray_alone_reads_the_same(path, group):
    pytest.importorskip("h5netcdf")
    ours = nudge.open(path)[group]
    with xr.open_dataset(path, group=group, engine="h5netcdf") as theirs:
        assert set(theirs.variables) == set(ours.variables)
        for name in ours.data_vars:
            assert theirs[name].dims == ours[name].dims, name
            if ours[name].dtype.kind == "f":
                assert np.array_equal(theirs[name].values, ours[name].values, equal_nan=True), name
        if group == "train":
            assert float(theirs.loss.sel(step=theirs.step[2])) == float(ours.loss[2])


def test_every_labelled_dimension_has_a_scale(path):
    missing = []

    def look(name, item):
        if not isinstance(item, h5py.Dataset) or item.attrs.get("CLASS") == b"DIMENSION_SCALE":
            return
        labelled = any(dim.label for dim in item.dims)
        if labelled and not all(len(dim) == 1 and dim[0].shape == (n,) for dim, n in zip(item.dims, item.shape)):
            missing.append(name)

    with h5py.File(path) as file:
        file.visititems(look)
        assert file["train/loss"].dims[0][0] == file["train/step"]
    assert not missing


def test_what_is_no_run_file(tmp_path):
    (tmp_path / "x.h5").write_text("no")
    with pytest.raises(nudge.InputError, match="cannot be read"):
        nudge.open(tmp_path / "x.h5")


def test_what_lies_in_other_files_is_refused(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"password")
    layout = h5py.VirtualLayout(shape=(8,), dtype="u1")
    layout[:] = h5py.VirtualSource(str(secret), "x", shape=(8,), dtype="u1")
    makers = {
        "raw": lambda f: f.create_dataset("g/leak", (8,), "u1", external=[(str(secret), 0, 8)]),
        "virtual": lambda f: f.create_virtual_dataset("g/leak", layout),
        "link": lambda f: f.require_group("g").__setitem__("leak", h5py.ExternalLink(str(secret), "/")),
        "circle": lambda f: f.require_group("g").__setitem__("leak", h5py.SoftLink("/g/leak")),
    }
    for kind, make in makers.items():
        with h5py.File(tmp_path / f"{kind}.h5", "w") as file:
            make(file)
        with pytest.raises(nudge.InputError, match="g/leak"):
            nudge.open(tmp_path / f"{kind}.h5")
    with h5py.File(tmp_path / "inside.h5", "w") as file:
        file["g/x"] = [1.0, 2.0]
        file["g/same"] = h5py.SoftLink("/g/x")
        file["g/up"] = file["g"]
    assert list(nudge.open(tmp_path / "inside.h5")["g"].same.values) == [1.0, 2.0]
    os.mkfifo(tmp_path / "pipe.h5")
    with pytest.raises(nudge.InputError, match="not a plain file"):
        nudge.open(tmp_path / "pipe.h5")


def test_names_do_not_steer_the_terminal(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a\x1b[2J\u202e/x"] = [1.0]
        file.attrs["kind"] = "odd\x1b]0;title\x07"
    run = nudge.open(tmp_path / "x.h5")
    assert "\x1b" not in repr(run) and "\u202e" not in repr(run) and "a\\x1b[2J" in repr(run)
    with pytest.raises(AttributeError) as error:
        run.trains
    assert "\x1b" not in str(error.value)
