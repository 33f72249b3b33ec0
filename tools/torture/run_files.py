# SPDX-License-Identifier: Apache-2.0
"""What the files of runs hold: how far they are, and in what two of them differ."""
import h5py

# Times, and what they are times of; `threads` too, as nudge allows another number when a run is resumed.
TIMES = {"wall_time_s", "started", "seconds", "threads"}


def progress(path):
    """How much a file holds: steps of a training, points of a sweep. Raises when it does not open."""
    with h5py.File(path, "r") as file:
        kind = text(file.attrs["kind"])
        if kind == "train":
            return int(file.attrs["checkpoint_done"])
        tables = ("tuning", "test") if kind == "compare" else ("points",)
        return sum(len(file[table + "/seed"]) for table in tables if table + "/seed" in file)


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def contents(path):
    """Every dataset as (type, shape, bytes) and every attribute, but times."""
    found = {}

    def note_attributes(name, thing):
        for key, value in thing.attrs.items():
            if key not in TIMES:
                found[f"{name}@{key}"] = repr(value.tolist() if hasattr(value, "tolist") else value)

    def visit(name, thing):
        if name.rsplit("/", 1)[-1] in TIMES:
            return
        if isinstance(thing, h5py.Dataset):
            note_attributes(name, thing)
            data = thing[()]
            raw = data.tobytes() if thing.dtype.kind != "O" else repr(data.tolist()).encode()
            found[name] = (thing.dtype.str, thing.shape, raw)
        else:
            note_attributes(name, thing)

    with h5py.File(path, "r") as file:
        note_attributes("", file)
        file.visititems(visit)
    return found


def differences(a, b):
    """Names of what is in one of two files only, or differs in any bit."""
    one, two = contents(a), contents(b)
    return sorted(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))
