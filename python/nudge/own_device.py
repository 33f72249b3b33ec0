# SPDX-License-Identifier: Apache-2.0
"""A device model of your own: what a pulse does, as functions of the conductance, in NumPy."""

import inspect
from collections.abc import Mapping

import numpy as np

from . import _core
from .own_code import code_of
from .config import Source, flat, parse, source_of, toml_of
from .errors import InputError

__all__ = ["Device"]

_OWN = ("model", "preset", "g_min", "g_max", "pulses", "piecewise")


class Device:
    """A device of your own. Override ``up`` and ``down``, the size of one pulse at a conductance:

    >>> class Saturating(nudge.devices.Device):
    ...     g_min, g_max = 1e-6, 20e-6
    ...     settings = {"read_noise": 0.01, "step_spread": 0.1}   # any other key of [device]
    ...     def up(self, g):                                     # S of S, an array for an array
    ...         return 2e-7 * (self.g_max - g) / (self.g_max - self.g_min)
    ...     def down(self, g):
    ...         return 1e-7 * np.exp((g - self.g_max) / 1e-5)
    >>> nudge.train(config, devices={"mine": Saturating}, device__model="mine")
    >>> nudge.Crossbar(w, device=Saturating)

    ``up(g)`` and ``down(g)`` are >= 0, at conductances g in [g_min, g_max]. A pulse that would leave the window ends at its bound. Read and update noise, drift, spreads, faults and endurance are
    keys of ``settings``; ``nudge.devices.show("piecewise")`` lists them.

    - pulses: the mean pulse that the controller counts in is the window over it. By default it is half the sum of up and down in the middle of the window.
    - points: places of the window at which the functions are tabulated.
    - tabulation_error: at most 0.01, or the device is refused.

    **The table.** Functions of a device without states are called once, before anything runs, and tabulated for the model ``piecewise``. So no Python runs in the simulation, and the
    bits are the same for any number of threads. The program reads, resumes and reports the run file without the class. The table is that of the flow dg/dn = v(g) whose unit step is one pulse:

        v = Δ ln(1 + Δ')/Δ' + Δ² Δ''/12 + …

    This is the iterative logarithm of g + Δ(g), exact where Δ is linear in g. So n pulses are n applications of the function.

    **A device with states.** ``states`` names numbers that each device has besides its conductance, with units and, unless 0, where they begin: {"recent": "S"} or {"recent": ("S", 0.0)}. Then
    ``pulse`` replaces ``up`` and ``down``. ``wait`` says what time does, ``disturb`` what reads do, and ``read_noise`` adds noise:

    >>> class Fading(nudge.devices.Device):
    ...     g_min, g_max, pulses = 1e-6, 20e-6, 100
    ...     states = {"recent": "S"}
    ...     def pulse(self, g, n, state):             # conductances after n pulses, n < 0: down
    ...         after = np.clip(g + 2e-7 * n, self.g_min, self.g_max)
    ...         state["recent"] = state["recent"] + 0.3 * (after - g)
    ...         return after
    ...     def wait(self, g, seconds, kelvin, state):
    ...         lost = -np.expm1(-seconds / 10) * state["recent"]
    ...         state["recent"] = state["recent"] - lost
    ...         return g - lost
    ...     def disturb(self, g, seconds, state):     # after so many seconds at the read voltage
    ...         return g + 1e-6 * (self.g_max - g) * seconds
    ...     def read_noise(self, g, state):           # standard deviation of a read per root of tau, S
    ...         return 0.05 * np.abs(state["recent"])

    They get flat arrays, several devices at a time, one call after another. Time comes to ``wait`` and ``disturb`` once ``least_wait`` seconds have gathered. ``update_noise`` takes the
    pulses of one request as equal. Programming a device starts its states again. Resume its run with ``nudge.resume(file, device=Fading)``.
    """

    g_min = None
    g_max = None
    pulses = None
    points = 257
    settings = {}
    states = {}
    least_wait = 0.0
    wait = None
    disturb = None
    read_noise = None

    def pulse(self, g, n, state):
        """Returns conductances after n pulses of each device, of a device with states. It may change the states."""
        raise NotImplementedError

    def up(self, g):
        """Returns what one up pulse adds to conductances g, S."""
        raise NotImplementedError

    def down(self, g):
        """Returns what one down pulse takes from conductances g, S."""
        raise NotImplementedError

    @property
    def config(self):
        """The device as keys of a config: {"device.model": "piecewise", "device.g_min": ..., ...}."""
        return self._with_states() if self.has_states else self._tabulated()[0]

    @property
    def has_states(self):
        """Whether it is called during the simulation, for its states, and not tabulated."""
        return bool(self.states) or type(self).pulse is not Device.pulse

    @property
    def tabulation_error(self):
        """Largest difference between one pulse of the table and of the functions, in mean pulses."""
        return self._tabulated()[1]

    def _name(self):
        return type(self).__name__

    def _fail(self, what):
        raise InputError(f"device {self._name()}: {what}")

    def _window(self):
        for key in ("g_min", "g_max"):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
                self._fail(f"{key} = {value!r} (must be a number of siemens)")
        if not 0 <= self.g_min < self.g_max:
            self._fail(f"g_min = {self.g_min:g}, g_max = {self.g_max:g} (must be 0 <= g_min < g_max)")
        if not (isinstance(self.points, int) and 3 <= self.points <= 100000):
            self._fail(f"points = {self.points!r} (must be a whole number from 3 to 100000)")
        return float(self.g_min), float(self.g_max)

    def _called(self, side, g):
        """The user's function at g, checked."""
        try:
            answer = getattr(self, side)(g.copy())
        except NotImplementedError:
            self._fail(f"{side}(g) is not defined")
        except Exception as error:
            raise InputError(f"device {self._name()}: {side}(g) raised {type(error).__name__}: {error}") from error
        try:
            answer = np.asarray(answer, np.float64)
        except (TypeError, ValueError):
            self._fail(f"{side}(g) returned {type(answer).__name__} (must be an array of numbers)")
        if answer.shape != g.shape:
            self._fail(f"{side}(g) returned the shape {answer.shape} for conductances of shape {g.shape} (must be the same: one "
                       "pulse for each conductance)")
        bad = np.flatnonzero(~np.isfinite(answer))
        if bad.size:
            self._fail(f"{side}({g[bad[0]]:.4g} S) = {answer[bad[0]]} (must be finite in the whole window)")
        bad = np.flatnonzero(answer < 0)
        if bad.size:
            self._fail(f"{side}({g[bad[0]]:.4g} S) = {answer[bad[0]]:.4g} S (must be >= 0: the size of a pulse)")
        return answer

    def _steps(self, side, g, window):
        steps = self._called(side, g)
        if np.any(self._called(side, g[::-1])[::-1] != steps):
            self._fail(f"{side}(g) gives other steps for the same conductances (must be a function of the conductance alone: noise and "
                       "history are keys of settings)")
        if steps.max() > window:
            at = int(np.argmax(steps))
            self._fail(f"{side}({g[at]:.4g} S) = {steps[at]:.4g} S, more than the window of {window:.4g} S (conductances and steps are in "
                       "siemens)")
        if not steps.any():
            self._fail(f"{side}(g) is 0 in the whole window (must move the device somewhere)")
        return steps

    def _tabulated(self):
        low, high = self._window()
        window = high - low
        fine = 8 * (self.points - 1) + 1  # derivatives are differences at an eighth of the table's spacing
        g = np.linspace(low, high, fine)
        steps = {side: self._steps(side, g, window) for side in ("up", "down")}
        mean = window / self.pulses if self.pulses else 0.5 * (steps["up"][fine // 2] + steps["down"][fine // 2])
        if not (np.isfinite(mean) and mean > 0):
            self._fail(f"pulses = {self.pulses!r} (must be a number > 0: mean pulses from bound to bound; the steps in the middle of the "
                       "window are 0)")
        tables, error = {}, 0.0
        for side, step in steps.items():
            along = step if side == "up" else step[::-1]  # as a step towards larger x
            flow = self._flow(side, along / window)
            table = flow[::8]
            error = max(error, float(np.max(np.abs(_one_pulse(table, fine) - _clipped(along / window)))) * window / mean)
            tables[side] = (table if side == "up" else table[::-1]) * window / mean
        if error > 0.01:
            self._fail(f"a table of {self.points} points misses one pulse by {error:.2g} mean pulses (must be <= 0.01: take more points, or "
                       "smaller and smoother pulses)")
        config = {"device.model": "piecewise", "device.g_min": low, "device.g_max": high, "device.pulses": window / mean,
                  "device.piecewise.up": tables["up"].tolist(), "device.piecewise.down": tables["down"].tolist()}
        return self._with_settings(config), error

    def _with_states(self):
        low, high = self._window()
        if not self.pulses:
            self._fail("pulses is not given (a device with states needs the mean pulses from bound to bound, in which the controller counts)")
        return self._with_settings({"device.model": "own", "device.g_min": low, "device.g_max": high, "device.pulses": self.pulses,
                                    "own.device": self._name(), "own.device_code": code_of(self)})

    def _with_settings(self, config):
        if not isinstance(self.settings, Mapping):
            self._fail(f"settings = {self.settings!r} (must be a dict of keys of the section [device])")
        for key, value in flat(self.settings):
            if key.split(".")[0] in _OWN:
                self._fail(f"settings: {key} is made from the class (leave it out)")
            config["device." + key] = value
        return config

    def _flow(self, side, step):
        """v(x) on the fine grid of the step Δ(x), both in windows."""
        h = 1 / (step.size - 1)
        slope = np.gradient(step, h, edge_order=2)
        bend = np.gradient(slope, h, edge_order=2)
        if slope.min() <= -1:
            self._fail(f"{side}(g) falls by more than the conductance rises (near place {np.argmin(slope) * h:.3g} along its way): one pulse "
                       "would make a device overtake one ahead of it (smaller pulses)")
        straight = np.abs(slope) < 1e-8
        ratio = np.where(straight, 1 - slope / 2, np.log1p(slope) / np.where(straight, 1, slope))
        return np.maximum(step * ratio + step**2 * bend / 12, 0)


class _Calls:
    """A device with states as the module calls it: arrays (1, devices), states in their order; what it answers is checked."""

    def __init__(self, device):
        self.device, self.least_wait, self.states = device, float(device.least_wait), []
        for name, given in dict(device.states).items():
            unit, initial = given if isinstance(given, tuple) else (given, 0.0)
            if not (isinstance(unit, str) and isinstance(initial, (int, float)) and str(name).isidentifier()):
                device._fail(f"states[{name!r}] = {given!r} (must be a unit, or a unit and a number; its name a word)")
            self.states.append((str(name), unit, f"{name} of each device", float(initial)))
        self.waited = self._waited if device.wait is not None else None
        self.disturbed = self._disturbed if device.disturb is not None else None
        self.read_noise = self._read_noise if device.read_noise is not None else None
        self.held = self.restored = None  # of boards (nudge.board)

    def _called(self, what, function, g, *arguments, states):
        own = {name: state[0] for (name, *_), state in zip(self.states, states)}
        try:
            answer = function(g[0].copy(), *arguments, own)
        except NotImplementedError:
            self.device._fail(f"{what} is not defined (a device with states says what its pulses do)")
        except Exception as error:
            raise InputError(f"device {self.device._name()}: {what} raised {type(error).__name__}: {error}") from error
        return self._row(what, answer, g), [self._row(f"{what}: the state {name}", own.get(name), g) for name, *_ in self.states]

    def _row(self, what, values, g):
        try:
            values = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            self.device._fail(f"{what} is {type(values).__name__} (must be an array of numbers)")
        if values.shape != g[0].shape:
            self.device._fail(f"{what} has the shape {values.shape} for conductances of shape {g[0].shape} (must be the same)")
        bad = np.flatnonzero(~np.isfinite(values) & np.isfinite(g[0]))
        if bad.size:
            self.device._fail(f"{what} is {values[bad[0]]} at a conductance of {g[0][bad[0]]:.4g} S (must be finite)")
        return values.reshape(1, -1)

    def pulsed(self, g, n, states):
        after, own = self._called("pulse(g, n, state)", self.device.pulse, g, n[0].copy(), states=states)
        return [after, *own]

    def _waited(self, g, seconds, kelvin, states):
        after, own = self._called("wait(g, seconds, kelvin, state)", self.device.wait, g, seconds, kelvin, states=states)
        return [after, *own]

    def _disturbed(self, g, seconds, states):
        after, own = self._called("disturb(g, seconds, state)", self.device.disturb, g, seconds, states=states)
        return [after, *own]

    def _read_noise(self, g, states):
        return self._called("read_noise(g, state)", self.device.read_noise, g, states=[state.copy() for state in states])[0]


def handed_over(device, name="device"):
    """A device with states (class or object) as the module takes it; None for one without, which its config says, and for none."""
    if device is None:
        return None
    own = made(device, name)
    if own is None:
        raise InputError(f"{name}: {device!r} (must be a nudge.devices.Device, the class or an object)")
    return _Calls(own) if own.has_states else None


def _clipped(step):
    """What is left of the steps at places in [0, 1]."""
    return np.minimum(step, 1 - np.linspace(0, 1, step.size))


def _one_pulse(table, places):
    """How far a unit of time along dx/dn = table(x), linear between its places, carries from each place: classical Runge–Kutta, 64 steps
    (its error, of fifth order in 1/64 of a pulse, is far below that of the table)."""
    at = np.linspace(0, 1, table.size)
    start = np.linspace(0, 1, places)
    x, h = start.copy(), 1 / 64

    def v(y):
        return np.interp(y, at, table)

    for _ in range(64):
        a = v(x)
        b = v(x + h / 2 * a)
        c = v(x + h / 2 * b)
        x = np.minimum(x + h / 6 * (a + 2 * b + 2 * c + v(x + h * c)), 1)
    return x - start


def made(device, name="device"):
    """An own device as an object, of its class or itself; None for anything else."""
    if inspect.isclass(device) and issubclass(device, Device):
        try:
            return device()
        except TypeError as error:
            raise InputError(f"{name}: {device.__name__}() cannot be made: {error} (give an object)") from error
    return device if isinstance(device, Device) else None


def _known_names():
    import json

    listed = json.loads(_core.device_list())
    return {one["name"] for kind in ("models", "presets") for one in listed[kind]} | {"digital", "own"}


def _with_devices(config, overrides, devices):
    """(source, values, asked, the chosen one of the devices or None): the config, its keys, those of the overrides."""
    if not isinstance(devices, Mapping):
        raise InputError(f"devices: {type(devices).__name__} (must be a dict of names and nudge.devices.Device)")
    for name, device in devices.items():
        if name in _known_names():
            raise InputError(f"devices: {name!r} is a model or a preset of nudge (take another name)")
        if made(device, f"devices[{name!r}]") is None:
            raise InputError(f"devices[{name!r}]: {device!r} (must be a nudge.devices.Device, the class or an object)")
    source = source_of(config, {})
    if isinstance(config, Mapping):
        values = dict(flat(config))
    else:
        parsed = parse(source.text)
        if not isinstance(parsed, Mapping):
            raise InputError("devices: this Python cannot read TOML (install tomli, or give the config as a dict)")
        values = dict(flat(parsed))
    asked = dict(flat(overrides))
    _refuse_axes(values, asked, devices)
    chosen = asked.get("device.model", values.get("device.model"))
    return source, values, asked, devices[chosen] if isinstance(chosen, str) and chosen in devices else None


def source_with(config, overrides, devices):
    """``source_of(config, overrides)`` where ``device.model`` may name one of ``devices`` ({name: Device}): its keys then come before those
    of the config, as those of a preset do."""
    if not devices:
        return source_of(config, overrides)
    source, values, asked, chosen = _with_devices(config, overrides, devices)
    if chosen is None:
        return source_of(config, overrides)
    values.pop("device.model", None)
    asked.pop("device.model", None)
    text = toml_of({**made(chosen).config, **values})
    return Source(source.name, text, source_of(None, asked).settings)


def device_of(config, overrides, devices):
    """That device as the module takes it, if it has states; else None."""
    if not devices:
        return None
    return handed_over(_with_devices(config, overrides, devices)[3])


def _refuse_axes(values, asked, devices):
    for key, value in [*values.items(), *asked.items()]:
        if key.endswith(".grid.device.model") and any(one in devices for one in np.atleast_1d(value).tolist()):
            raise InputError(f"{key}: a device of one's own cannot be a value of an axis (run a sweep for each: device.model = its name; "
                             "other keys of [device] can be axes)")
