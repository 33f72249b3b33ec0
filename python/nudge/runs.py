# SPDX-License-Identifier: Apache-2.0
"""Run files as xarray Datasets."""

import contextlib
import os
import pathlib
import tempfile

import h5py
import numpy as np
import xarray as xr

from .config import parse
from .h5_gate import open_own

__all__ = ["Run", "open"]

_HIDDEN = ("CLASS", "NAME", "DIMENSION_LABELS", "DIMENSION_LIST", "REFERENCE_LIST")


def _shown(text):
    """What a file says, as it may stand on a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text)


def _plain(value):
    """An attribute as a number or text of Python."""
    if isinstance(value, bytes):
        return value.decode()
    return value.item() if isinstance(value, np.generic) else value


def _values(dataset):
    """The numbers, or texts as str."""
    values = dataset[()]
    if values.dtype.kind in "SO":
        return np.asarray([one.decode() for one in values.ravel()], dtype=str).reshape(values.shape)
    return values


def _is_bare(dataset):
    """Whether it is a dimension scale without values."""
    name = dataset.attrs.get("NAME", b"")
    return bytes(name if isinstance(name, bytes) else str(name).encode()).startswith(b"This is a netCDF dimension but")


def _dimensions(dataset):
    """Names of the dimensions: of their scales where the file has them, else their labels with the length behind."""
    if dataset.attrs.get("CLASS") == b"DIMENSION_SCALE":
        return (dataset.name.rsplit("/", 1)[1],)
    names = []
    for axis, dim in enumerate(dataset.dims):
        label = dim.label.replace(" ", "_") or f"dim{axis}"
        names.append(dim[0].name.rsplit("/", 1)[1] if len(dim) else f"{label}_{dataset.shape[axis]}")
    if len(set(names)) < len(names):  # a square matrix whose dimensions have one label
        names = [f"{name}_{axis}" for axis, name in enumerate(names)]
    return tuple(names)


def _attributes(dataset):
    """Unit and description as xarray's plots read them, and the rest."""
    out = {key: _plain(value) for key, value in dataset.attrs.items() if key not in _HIDDEN}
    if out.get("unit", "1") != "1":
        out["units"] = out["unit"]
    if "description" in out:
        out["long_name"] = out["description"]
    return out


def _dataset(group):
    """The datasets directly in a group, with the coordinates of their dimensions."""
    variables, coordinates = {}, {}
    for name, item in group.items():
        if not isinstance(item, h5py.Dataset) or _is_bare(item):
            continue
        dims = _dimensions(item)
        variable = xr.Variable(dims, _values(item), _attributes(item))
        (coordinates if dims == (name,) else variables)[name] = variable
        axis = _plain(item.attrs.get("x", ""))  # coordinates that lie in another group
        if axis in group.file and axis.rsplit("/", 1)[0] != group.name.strip("/"):
            other = group.file[axis]
            if other.shape == item.shape[:1]:
                coordinates.setdefault(dims[0], xr.Variable(dims[:1], _values(other), _attributes(other)))
    attrs = {key: _plain(value) for key, value in group.attrs.items()}
    return xr.Dataset(variables, coordinates, attrs)


class Run:
    """A file of ``nudge.train``, ``gradcheck``, ``sweep``, ``devices.characterize``, or of the program.

    ``run["train"]`` or ``run.train`` is a group as an ``xarray.Dataset``: dimensions and coordinates by name, units and descriptions as attributes. A group is read anew
    at each access, so you can watch a run while it goes on.

    - groups: names of the groups.
    - attrs: kind, seed, versions and machine.
    - summary: the numbers that the command prints with ``--json``; None for a file that was opened.
    - path: the file; None in memory.
    """

    def __init__(self, path, summary=None, image=None):
        self.path = None if path is None else os.fspath(path)
        self.summary = summary
        self._image = image
        with self._file() as file:
            self.attrs = {key: _plain(value) for key, value in file.attrs.items()}
            names = []
            file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Group) else None)
            self.groups = [name for name in names if any(isinstance(i, h5py.Dataset) for i in file[name].values())]

    def _file(self):
        if self._image is not None:
            import io

            return h5py.File(io.BytesIO(self._image), "r")
        return open_own(self.path)

    @property
    def config(self):
        """The resolved config as nested dicts."""
        return parse(self.attrs.get("config", ""))

    def __getitem__(self, group):
        with self._file() as file:
            if group not in file or not isinstance(file[group], h5py.Group):
                raise KeyError(f"no group {group!r} (the file has: {', '.join(self.groups)})")
            return _dataset(file[group])

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.__dict__.get("groups", ()):
            raise AttributeError(_shown(f"no group {name!r} (the file has: {', '.join(self.__dict__.get('groups', ()))})"))
        return self[name]

    def __dir__(self):
        return [*super().__dir__(), *(group for group in self.groups if group.isidentifier())]

    def __repr__(self):
        where = self.path or "in memory"
        return _shown(f"<nudge.Run {self.attrs.get('kind', '')} {where}: {', '.join(self.groups)}>")


@contextlib.contextmanager
def written(out):
    """Where a run is written, ``path``: the file ``out``, or one that is read into memory and removed; called with the summary: the Run."""
    with contextlib.ExitStack() as stack:
        path = os.path.join(stack.enter_context(tempfile.TemporaryDirectory(prefix="nudge-")), "run.h5") if out is None else os.fspath(out)

        def run(summary):
            return Run(path, summary) if out is not None else Run(None, summary, pathlib.Path(path).read_bytes())

        run.path = path
        yield run


def open(path):
    """Opens an HDF5 file that nudge has written, and returns a ``Run``."""
    return Run(path)
