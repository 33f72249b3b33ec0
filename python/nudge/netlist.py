# SPDX-License-Identifier: Apache-2.0
"""SPICE netlists: a circuit as arrays and as a graph, its operating point, and its training."""

import os
import tempfile

import numpy as np
import xarray as xr

from . import _core, studies
from .errors import InputError

__all__ = ["Netlist"]

_UNITS = {"resistor": "Ohm", "capacitor": "F", "voltage": "V", "current": "A", "vccs": "S", "ccvs": "Ohm",
          "inductor": "H"}

#: What a netlist is trained with unless something else is asked for: its equations solved, in volts, features and targets as they are.
_DEFAULTS = {"precision": "double", "estimator": "ep", "relaxation__solver": "direct", "circuit__read_voltage": "1 V",
             "data__scaling": "none", "task__kind": "regression"}


class Netlist:
    """A circuit as a SPICE netlist draws it: ``Netlist("grid.cir")``, or ``Netlist(text=...)``.

    Instances of .subckt are taken apart: "x1.r2". A mistake raises InputError as file:line:column.
    """

    def __init__(self, file=None, text=None):
        if (file is None) == (text is None):
            raise InputError("Netlist: a file, or text=...")
        self.file = None if file is None else os.fspath(file)
        self._core = _core.parse_netlist("netlist", text) if file is None else _core.read_netlist(self.file)

    @classmethod
    def _of(cls, core):
        self = cls.__new__(cls)
        self.file, self._core = None, core
        return self

    @property
    def title(self):
        """The title line of the netlist."""
        return self._core.title

    @property
    def nodes(self):
        """Names of the nodes, without ground."""
        return self._core.nodes

    @property
    def notes(self):
        """Sentences on what of the file was left aside, or is read otherwise than by ngspice."""
        return self._core.notes

    @property
    def elements(self):
        """The elements as a Dataset over element: kind, plus and minus (nodes; "0" is ground), value and unit.

        Of a transistor plus and minus are drain and source.
        """
        found = self._core.elements()
        names = found.pop("name")
        columns = {name: ("element", np.asarray(values)) for name, values in found.items()}
        columns["unit"] = ("element", np.asarray([_UNITS.get(kind, "1") for kind in found["kind"]]))
        return xr.Dataset(columns, {"element": names})

    def with_values(self, values):
        """Returns the circuit with other values {element: number} (Ohm, V, A, ...)."""
        return Netlist._of(self._core.with_values(list(values), [float(one) for one in values.values()]))

    def operating_point(self, **sources):
        """Returns the voltages of the nodes and the currents of the voltage sources, a Dataset.

        - sources: other values by name: ``operating_point(v1=0.3)``.

        NumericalError names the node or element where no operating point is found.
        """
        core = self._core.with_values(list(sources), [float(one) for one in sources.values()]) if sources else self._core
        volts, currents, residual = core.operating_point()
        return xr.Dataset({"voltage": ("node", np.asarray(volts), {"units": "V"}),
                           "current": ("source", np.asarray(list(currents.values())), {"units": "A"})},
                          {"node": self.nodes, "source": list(currents)}, {"residual_A": residual})

    def graph(self, **sources):
        """Returns the circuit as a ``networkx.MultiGraph``.

        Nodes have their ``voltage`` at the operating point; ground is "0". An edge per element has ``name``, ``kind``, ``value`` and ``unit``.
        """
        try:
            import networkx
        except ImportError:
            raise ImportError("Netlist.graph needs networkx, which is not installed: pip install networkx") from None
        graph, point, table = networkx.MultiGraph(title=self.title), self.operating_point(**sources), self.elements
        graph.add_node("0", voltage=0.0)
        for node, volts in zip(point.node.values, point.voltage.values):
            graph.add_node(str(node), voltage=float(volts))
        for row in range(table.element.size):
            kind, plus, minus, unit = (str(table[one].values[row]) for one in ("kind", "plus", "minus", "unit"))
            name = str(table.element.values[row])
            graph.add_edge(plus, minus, key=name, name=name, kind=kind, value=float(table.value.values[row]), unit=unit)
        return graph

    def text(self, note="written by nudge"):
        """Returns the circuit as text that ngspice runs."""
        return self._core.text(note)

    def save(self, path, note="written by nudge"):
        """Writes the text to a file."""
        _core.write_file(os.fspath(path), self.text(note).encode())

    def train(self, data=None, inputs=(), outputs=(), learn=("r*",), **options):
        """Trains the circuit by ``nudge.train`` and returns a ``Run``. ``trained(run)`` is the circuit that it has become.

        - data: (features, targets).
        - inputs: its sources, one per feature, or globs.
        - outputs: nodes, or "plus,minus", one per value or class.
        - learn: globs of the resistors and sources that learn.
        - options: those of ``nudge.train`` (``estimator="coupled_learning"``, ``netlist__mirrored=[...]``, ``device__preset=...``).
        """
        return studies.train(self._config(inputs, outputs, learn), data, **self._asked(data, options))

    def gradcheck(self, data=None, inputs=(), outputs=(), learn=("r*",), **options):
        """Runs ``nudge.gradcheck`` on the circuit: how wrong each rule is. Arguments as ``train``."""
        return studies.gradcheck(self._config(inputs, outputs, learn), data, **self._asked(data, options))

    def trained(self, run):
        """Returns the circuit with what a ``Run`` of it has learned."""
        return Netlist._of(self._learnt(run)[1])

    def initial(self, run):
        """Returns the circuit as that ``Run`` began: with drawn values, or with what its devices took."""
        return Netlist._of(self._learnt(run)[0])

    def _learnt(self, run):
        if run.path is not None:
            return _core.learnt_netlist(run.path, self.file or "")
        with tempfile.TemporaryDirectory(prefix="nudge-") as folder:
            path = os.path.join(folder, "run.h5")
            with open(path, "wb") as file:
                file.write(run._image)
            return _core.learnt_netlist(path, self.file or "")

    def _config(self, inputs, outputs, learn):
        if self.file is None:
            raise InputError("Netlist: of a text, or of other values than those of its file (save it, and read that)")
        if isinstance(inputs, str) or isinstance(outputs, str) or isinstance(learn, str):
            raise InputError("Netlist: inputs, outputs and learn are lists of names")
        return {"network.kind": "netlist", "netlist.file": os.path.abspath(self.file), "netlist.inputs": list(inputs),
                "netlist.outputs": list(outputs), "netlist.learn": list(learn)}

    @staticmethod
    def _asked(data, options):
        """The options with the defaults before them."""
        ours = {key: value for key, value in _DEFAULTS.items() if data is None or key != "task__kind"}  # which the arrays say
        return {**ours, **options}

    def __repr__(self):
        return f"<nudge.Netlist {self.title!r}: {self.elements.element.size} elements, {len(self.nodes)} nodes>"
