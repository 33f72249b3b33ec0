# SPDX-License-Identifier: Apache-2.0
"""Configs as the program reads them: a TOML file, TOML text or a dict, and overrides."""

import json
import math
import os
from collections.abc import Mapping

from . import _core
from .errors import InputError

__all__ = ["Source", "source_of", "resolve", "keys"]


class Source:
    """A config as it was given: ``name`` for messages, ``text`` (TOML) and ``settings`` ("key=value", taken after it)."""

    def __init__(self, name, text, settings):
        self.name, self.text, self.settings = name, text, settings


def _key(name):
    """``train__steps`` as the key ``train.steps``."""
    return name.replace("__", ".")


def flat(values, prefix=""):
    """The leaves of a nested dict by dotted key; a dict below ``sweep.grid`` is keyed by the keys that are swept."""
    for name, value in values.items():
        if not isinstance(name, str):
            raise InputError(f"config: the key {name!r} is no text")
        key = prefix + _key(name)
        if isinstance(value, Mapping):
            yield from flat(value, key + ".")
        else:
            yield key, value


def _toml(value, key):
    """A value as TOML."""
    if hasattr(value, "tolist"):  # a scalar or an array of NumPy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(one, key) for one in value) + "]"
    raise InputError(f"config: {key} = {value!r} (must be a number, a text, True or False, or a list of these)")


def toml_of(values):
    """The dict of a config, nested or dotted, as TOML text."""
    lines = []
    for key, value in flat(values):
        head, grid, axis = key.partition(".grid.")  # sweep.grid."device.read_noise" = [...]
        path = f"{head}.grid.{json.dumps(axis)}" if grid else key
        lines.append(f"{path} = {_toml(value, key)}")
    return "\n".join(lines) + "\n"


def source_of(config, overrides):
    """The Source of what a function was given.

    config: the path of a TOML file, TOML text (it has a line break or ``=``), a dict with nested or dotted keys, or None for
    defaults alone. overrides: as keyword arguments, ``__`` for the dot:
    ``train__steps=100`` is the key ``train.steps``; they are read as ``--set`` is, after the config.
    """
    settings = [f"{key}={_toml(value, key)}" for key, value in flat(overrides)]
    if config is None:
        return Source("config", "", settings)
    if isinstance(config, Mapping):
        return Source("config", toml_of(config), settings)
    if isinstance(config, str) and ("\n" in config or ("=" in config and not os.path.exists(config))):
        return Source("config", config, settings)
    if not isinstance(config, (str, os.PathLike)):
        raise InputError(f"config: {type(config).__name__} (must be the path of a TOML file, TOML text or a dict)")
    path = os.fspath(config)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise InputError(f"{path}: cannot read the config: {error.strerror}") from None
    if data.startswith(b"\x89HDF\r\n"):
        raise InputError(f"{path}: is an HDF5 file, not a TOML config (nudge.open reads it; a run goes on with nudge.resume)")
    return Source(path, data.decode("utf-8", "surrogateescape"), settings)


def resolve(config=None, **overrides):
    """Returns the whole config, every key, as nested dicts: what a run of it would store. InputError lists every problem."""
    source = source_of(config, overrides)
    return parse(_core.resolve(source.name, source.text, source.settings, (None,) * 4))


def parse(text):
    """TOML text as nested dicts; as text where this Python has no reader of TOML (before 3.11, without tomli)."""
    try:
        import tomllib
    except ImportError:
        try:
            import tomli as tomllib
        except ImportError:
            return text
    return tomllib.loads(text)


def keys():
    """Returns the names of all keys. docs/reference/configuration.md says what they mean."""
    return _core.keys()
