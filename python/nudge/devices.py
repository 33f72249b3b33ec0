# SPDX-License-Identifier: Apache-2.0
"""Device models and presets: their numbers and citations, virtual measurements, fits to measured pulses."""

import builtins
import json
import os
from collections.abc import Mapping

from . import _core
from .config import parse, source_of
from .errors import InputError
from .own_device import Device, handed_over, made
from .runs import written

__all__ = ["Device", "list", "show", "characterize", "fit", "settings_of"]


def list():
    """Returns models and presets: {"models": [{name, summary}], "presets": [{name, model, summary}]}."""
    return json.loads(_core.device_list())


def show(name):
    """Returns one model or preset with its numbers: equation, parameters (unit, range, value, source), limits, citation."""
    return json.loads(_core.device_show(name))


def settings_of(device, overrides):
    """The settings of a config for a device given by name (a model or a preset), as a dict of the section [device], or of one's own
    (a ``Device``: the class or an object)."""
    own = made(device)
    if own is not None:
        return source_of(None, {**own.config, **overrides}).settings
    if isinstance(device, Mapping):
        return source_of(None, {"device": device, **overrides}).settings
    if not isinstance(device, str):
        raise InputError(f"device: {device!r} (must be the name of a model or a preset, a dict, or a Device)")
    known = list()
    is_preset = device in builtins.list(preset["name"] for preset in known["presets"])
    if not is_preset and device not in builtins.list(model["name"] for model in known["models"]):
        show(device)  # raises with the nearest names
    return source_of(None, {"device.preset" if is_preset else "device.model": device, **overrides}).settings


def own_part(device):
    """A device of one's own with states, as the module takes it; else None."""
    return handed_over(device) if made(device) is not None else None


def characterize(device, out=None, devices=100, samples=1024, interval=1e-3, cycles=20, points=200, one_by_one=False, seed=1,
                 **overrides):
    """Measures virtual devices as on a prober: pulse staircase, endurance, drift, read noise. Returns a ``Run`` with these groups.

    - device: a name, a dict of the keys of ``[device]``, or a ``Device``.
    - out: HDF5 file to write; None: in memory.
    - interval: seconds between looks.
    - overrides: keys of ``[device]``.
    """
    settings = settings_of(device, overrides)
    own = made(device)
    name = device if isinstance(device, str) else "config" if own is None else type(own).__name__
    with written(out) as output:
        page = _core.device_measure(name, settings, output.path, devices, samples, interval, cycles, points, one_by_one, seed, own_part(device))
        return output(json.loads(page))


def fit(csv, model="piecewise", points=9):
    """Fits a model to measured pulses, a CSV file with the columns pulse, conductance, direction; with device and cycle too for several devices. Returns a dict.

    - toml, config: the sections of a config, as text and as nested dicts. ``config["device"]`` is a device for ``Crossbar`` and ``characterize``.
    - the residuals of the fit.
    - population (several devices): mean and deviation of g_min, g_max (S), step (S) and asymmetry, with their 95 % intervals; an end that the records leave open is None.
    - repeatability (several cycles): of the window.
    """
    found = _core.device_fit(os.fspath(csv), model, points)
    return {**found, "config": parse(found["toml"])}
