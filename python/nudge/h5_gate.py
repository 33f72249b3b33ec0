# SPDX-License-Identifier: Apache-2.0
"""Opens HDF5 files as the program does (sim/io/h5_foreign.hpp): what lies in other files is refused and not looked for."""

import os

import h5py

from .errors import InputError

__all__ = ["open_own"]


def _refuse(path, name, why):
    raise InputError(f"{path}: {name.strip('/')!r}: {why}")


def _outside(dataset):
    """Why the values of a dataset are not its file's, or None."""
    properties = dataset.id.get_create_plist()
    if properties.get_external_count() > 0:
        return "its values are in another file, which is not read"
    if properties.get_layout() == h5py.h5d.VIRTUAL:
        return "a virtual dataset, whose values are in other files, which are not read"
    return None


def _link(group, name):
    try:
        return group.get(name, getlink=True)
    except TypeError:  # of a kind that h5py does not know
        return None


def _leads_somewhere(file, name):
    try:
        return file.get(name) is not None
    except (OSError, RuntimeError):  # too many links
        return False


def _expect_own_values(file, path):
    seen, soft, groups = set(), [], [file["/"]]
    while groups:
        group = groups.pop()
        for name in group:
            where = f"{group.name.rstrip('/')}/{name}"
            link = _link(group, name)
            if isinstance(link, h5py.SoftLink):
                soft.append(where)  # safe to follow when nothing leads out of the file
                continue
            if not isinstance(link, h5py.HardLink):
                _refuse(path, where, f"a link to another file ({getattr(link, 'filename', '?')!r}), which is not read")
            item = group[name]
            address = h5py.h5o.get_info(item.id).addr
            if address in seen:
                continue
            seen.add(address)
            if isinstance(item, h5py.Group):
                groups.append(item)
            elif isinstance(item, h5py.Dataset) and (why := _outside(item)):
                _refuse(path, where, why)
    for where in soft:
        if not _leads_somewhere(file, where):
            _refuse(path, where, "a link that leads nowhere, or in a circle")


def open_own(path):
    """The file opened for reading. InputError when it is none, or names an object whose values lie in another file."""
    if not os.path.isfile(path):
        raise InputError(f"{path}: cannot be read: no such file, or not a plain file")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    try:
        _expect_own_values(file, path)
    except BaseException:
        file.close()
        raise
    return file
