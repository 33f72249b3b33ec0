# SPDX-License-Identifier: Apache-2.0
"""nudge: a simulator of analog hardware that learns by settling.

Three questions, one function each: ``train`` (does equilibrium propagation train on my device?), ``gradcheck`` (how wrong is its
gradient, and where?) and ``sweep`` (which imperfection hurts first?). ``open`` reads run files as xarray Datasets. ``Network``,
``Netlist``, ``Crossbar``, ``devices`` and ``Dynamics`` are the parts. ``nudge.torch`` makes layers of PyTorch of them, and ``nudge.plot``
draws the figures of the report with matplotlib. ``Board`` puts a chip of your own in the loop.
"""

import importlib

from . import _threads  # noqa: F401  first: it loads _core
from . import board, devices
from ._core import build, estimators, presets
from .board_base import Board
from .config import keys, resolve
from .crossbar import Crossbar
from .dynamics import Dynamics, EnergyDynamics, SquaredError, check, estimate, settle
from .errors import Error, InputError, InternalError, NumericalError, OutputError
from .netlist import Netlist
from .network import Network
from .parts import Cost, Estimator
from .ranked import Effect, effects
from .runs import Run, open
from .studies import Gradcheck, gradcheck, merge, resume, spec, sweep, train

__version__ = build()["version"]

__all__ = [
    "Board", "Cost", "Crossbar", "Dynamics", "Effect", "EnergyDynamics", "Error", "Estimator", "Gradcheck", "InputError", "InternalError", "Netlist",
    "Network", "NumericalError", "OutputError", "Run", "SquaredError", "board", "build", "check", "devices", "effects", "estimate", "estimators",
    "gradcheck", "keys", "merge", "open", "presets", "resolve", "resume", "settle", "spec", "sweep", "train",
]


def __getattr__(name):
    """nudge.plot, nudge.torch and nudge.jax, loaded when they are used: each needs a package of its own."""
    if name in ("plot", "torch", "jax"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'nudge' has no attribute {name!r}")
