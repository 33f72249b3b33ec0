# SPDX-License-Identifier: Apache-2.0
"""Systems, costs, estimators and devices of one's own in the runs of the program: what the config says of them."""

import contextlib
import os
import tempfile

import numpy as np

from .board_link import connected
from .config import Source, flat, parse, source_of
from .dynamics import Dynamics
from .errors import InputError
from .own_code import code_of
from .own_device import device_of, source_with
from .parts import Cost, Estimator

__all__ = ["ROLES", "own_run", "lent", "named", "system_source"]

ROLES = "system", "cost", "estimator", "device"  # of a run, in the order of the module


def named(part):
    """What the files of a run call it."""
    return getattr(part, "name", None) or type(part).__name__


def _kind_of(targets, asked):
    """task.kind of targets: what is asked for, or classification of whole numbers from 0 on, integers or floats, one a sample."""
    if asked:
        return asked
    whole = targets.dtype.kind in "iub" or (targets.size == len(targets) and bool(np.all((targets >= 0) & (targets == np.floor(targets)))))
    return "classification" if whole else "regression"


def _arrays(data, asked=None):
    """(features, targets, task.kind) as they are written; asked: the task.kind that the caller names."""
    if isinstance(data, dict):
        keys = ", ".join(f"{name.replace('.', '__')}={value!r}" for name, value in list(flat(data))[:2])
        raise InputError(f"data: a dict (must be (features, targets)). Settings are keyword arguments: {keys or 'train__steps=500'}")
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise InputError("data: must be (features, targets), two arrays of as many rows (or data__file=..., task__kind=...)")
    features, targets = np.asarray(data[0]), np.asarray(data[1])
    if features.ndim < 2 or len(features) != len(targets):
        raise InputError(f"data: features {features.shape} and targets {targets.shape} (must have as many rows, features two or more "
                         "dimensions)")
    features, kind = np.ascontiguousarray(features, np.float32), _kind_of(targets, asked)
    if kind != "classification":
        return features, np.ascontiguousarray(targets.reshape(len(targets), -1), np.float32), kind
    labels = targets.ravel()
    broken = np.flatnonzero((labels < 0) | (labels != np.floor(labels)))
    if broken.size:
        raise InputError(f"data: target {broken[0]} is {labels[broken[0]]} (task.kind = classification: must be a whole number from 0 on; "
                         "real values to fit: task__kind=\"regression\")")
    return features, np.ascontiguousarray(labels, np.int64), kind


def _asked_kind(config, overrides):
    """task.kind as a config or the overrides name it; None: neither does."""
    asked = dict(flat(overrides)).get("task.kind")
    if asked or config is None:
        return asked
    values = parse(source_of(config, {}).text)
    return dict(flat(values)).get("task.kind") if isinstance(values, dict) else None


def _write(path, features, targets):
    """The arrays as a file that the config names; one that is there must hold them."""
    if os.path.exists(path):
        with np.load(path) as there:
            if np.array_equal(there["features"], features) and np.array_equal(there["labels"], targets):
                return
        raise InputError(f"{path}: is there already, with other data (the arrays of a run are kept beside its file)")
    np.savez(path, features=features, labels=targets)


def lent(system=None, cost=None, estimator=None, device=None):
    """The tuple that the module takes, checked."""
    if cost is not None and not isinstance(cost, Cost):
        raise InputError(f"cost: {type(cost).__name__} (must be a nudge.Cost)")
    if estimator is not None and not isinstance(estimator, Estimator):
        raise InputError(f"estimator: {type(estimator).__name__} (must be a name or a nudge.Estimator)")
    return system, cost, estimator, device


def system_source(system, overrides, devices=None, of_data=()):
    """What the config of a run, or of a Network, says of a Dynamics: it, its data, and the overrides."""
    system._require()
    asked = dict(flat(overrides))
    values = {"network.kind": "own", "own.system": named(system), "own.leak": float(system.leak), "own.contrastive": system.contrastive,
              "own.solves": system.solves, "precision": "double", "data.side_by_side": asked.get("train.batch", 16), **dict(of_data)}
    source = source_with({key: value for key, value in values.items() if key not in asked}, asked, devices)
    return Source(named(system), source.text, source.settings)


@contextlib.contextmanager
def own_run(config, data, out, devices, cost, estimator, overrides, keep_code=False, board=None):
    """(source, parts) of a run of a config or of a Dynamics, on arrays where data is given: they lie beside ``out``, or are removed in the end.
    keep_code: the config says what their code is. board: what measures the states of a Dynamics, and is its devices."""
    overrides, of_board = dict(overrides), {}
    if isinstance(estimator, str):
        overrides["estimator"], estimator = estimator, None
    own = isinstance(config, Dynamics)
    device = device_of({} if own else config, overrides, devices)
    if board is not None:
        config, device, of_board = connected(board, config, overrides, devices)
    parts = lent(config if own else None, cost, estimator, device)
    if estimator is not None:
        overrides.update(estimator="own", own__estimator=named(estimator))
    if cost is not None:
        overrides.update(network__cost="own", own__cost=named(cost))
    if keep_code:
        overrides.update({f"own__{role}_code": code_of(part) for role, part in zip(ROLES[:3], parts) if part is not None})
    with contextlib.ExitStack() as stack:
        of_data = of_board
        if data is not None:
            features, targets, of_data["task.kind"] = _arrays(data, _asked_kind(None if own else config, overrides))
            path = (os.path.join(stack.enter_context(tempfile.TemporaryDirectory(prefix="nudge-")), "data.npz") if out is None
                    else os.path.splitext(os.fspath(out))[0] + ".data.npz")
            _write(path, features, targets)
            of_data["data.file"] = os.path.abspath(path)
        if not own:
            yield source_with(config, {**of_data, **dict(flat(overrides))}, devices), parts
            return
        yield system_source(config, overrides, devices, of_data), parts
