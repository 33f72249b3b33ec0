# SPDX-License-Identifier: Apache-2.0
"""nudge.Netlist: a circuit as arrays and as a graph, its operating point, what it learns."""

import os

import numpy as np
import pytest

import nudge

GRID = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "grid.cir")

DIVIDER = "divider\nV1 in 0 10\nR1 in out 3k\nR2 out 0 2k\n"

# A weighted mean of two voltages: v_y = (g1 a + g2 b)/(g1 + g2 + 1e-4).
MEAN = "mean\nVa a 0 0\nVb b 0 0\nR1 a y 1k\nR2 b y 1k\nR3 y 0 10k\n"
FEW = {"train__steps": 30, "train__batch": 8, "train__evaluate_every": 30, "task__references": "off", "threads": 1}


@pytest.fixture
def mean(tmp_path):
    path = tmp_path / "mean.cir"
    path.write_text(MEAN)
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (60, 2))
    return nudge.Netlist(path), (x, x @ [[0.5], [0.3]])


def test_arrays_and_operating_point():
    circuit = nudge.Netlist(text=DIVIDER)
    table = circuit.elements
    assert list(table.element.values) == ["v1", "r1", "r2"] and list(table.kind.values) == ["voltage", "resistor", "resistor"]
    assert list(table.unit.values) == ["V", "Ohm", "Ohm"] and list(table.minus.values) == ["0", "out", "0"]
    point = circuit.operating_point()
    assert float(point.voltage.sel(node="out")) == pytest.approx(4, rel=1e-12)  # by the law of Ohm; 1 pS of shunts is 1e-9 of these
    assert float(point.current.sel(source="v1")) == pytest.approx(-2e-3, rel=1e-12)
    assert float(circuit.operating_point(v1=5).voltage.sel(node="out")) == pytest.approx(2, rel=1e-12)
    other = circuit.with_values({"r2": 3000})
    assert float(other.operating_point().voltage.sel(node="out")) == pytest.approx(5, rel=1e-12)
    assert nudge.Netlist(text=other.text()).elements.value.values.tolist() == [10, 3000, 3000]


def test_graph():
    networkx = pytest.importorskip("networkx")
    graph = nudge.Netlist(GRID).graph()
    table = nudge.Netlist(GRID).elements
    assert graph.number_of_edges() == table.element.size and networkx.is_connected(graph)
    laplace = np.zeros((len(graph), len(graph)))
    index = {node: i for i, node in enumerate(graph)}
    for a, b, edge in graph.edges(data=True):
        if edge["kind"] != "resistor":
            continue
        i, j = index[a], index[b]
        laplace[[i, j], [i, j]] += 1 / edge["value"]
        laplace[[i, j], [j, i]] -= 1 / edge["value"]
    # Kirchhoff's law at every node that no source touches; what is left is 1 pS of shunts and rounding.
    volts = np.array([graph.nodes[node]["voltage"] for node in graph])
    free = [i for node, i in index.items() if all(edge["kind"] == "resistor" for _, _, edge in graph.edges(node, data=True))]
    assert len(free) > 5 and np.abs((laplace @ volts)[free]).max() < 1e-11


def test_training(mean, tmp_path):
    circuit, data = mean
    ports = {"inputs": ["va", "vb"], "outputs": ["y"], "learn": ["r1", "r2", "r3"]}
    run = circuit.train(data, **ports, **{**FEW, "train__steps": 400}, train__learning_rate=3e-2, beta=1e-3)
    after = circuit.trained(run)
    g = 1 / after.elements.value.sel(element=["r1", "r2", "r3"]).values
    assert g[:2] / g.sum() == pytest.approx([0.5, 0.3], abs=0.02)  # 400 steps of Adam at 0.03 of numbers of the size of 1
    assert float(after.operating_point(va=1, vb=0).voltage.sel(node="y")) == pytest.approx(g[0] / g.sum(), rel=1e-9)
    assert circuit.initial(run).elements.value.values == pytest.approx(circuit.elements.value.values, rel=1e-14)  # 1/(1/R)
    after.save(tmp_path / "trained.cir")
    again = nudge.Netlist(tmp_path / "trained.cir")
    assert again.train(data, **ports, **FEW, train__learning_rate=1e-3).summary["loss"] < run.train.loss.values[0] / 100
    on_file = circuit.train(data, out=tmp_path / "run.h5", **ports, **FEW, estimator="coupled_learning", beta=0.1)
    assert circuit.trained(on_file).elements.value.values[2] != 1000 and (tmp_path / "run.data.npz").exists()


def test_gradcheck(mean):
    circuit, data = mean
    check = circuit.gradcheck(data, inputs=["va", "vb"], outputs=["y"], gradcheck__estimators=["adjoint", "ep", "coupled_learning"], beta=1e-4)
    assert check.cosine("adjoint") > 1 - 1e-12 and check.cosine("ep") > 1 - 1e-6
    assert check.cosine("coupled_learning") > 1 - 1e-6  # one output alone is only scaled


def test_what_is_wrong_is_said(mean):
    circuit, data = mean
    with pytest.raises(nudge.InputError, match="did you mean r1"):
        circuit.with_values({"r11": 3.0})
    with pytest.raises(nudge.InputError, match="must be finite, and of a resistor not 0"):
        circuit.with_values({"r1": 0})
    with pytest.raises(nudge.InputError, match="netlist:2:1: Z1: MESFETs"):
        nudge.Netlist(text="t\nZ1 a b c m\n")
    with pytest.raises(nudge.NumericalError, match="singular"):
        nudge.Netlist(text="t\nV1 a 0 1\nR1 a 0 1\nR2 b 0 1\nR3 b 0 -1\n").operating_point()
    with pytest.raises(nudge.InputError, match="save it"):
        circuit.with_values({"r1": 2e3}).train(data, inputs=["va", "vb"], outputs=["y"])
    with pytest.raises(nudge.InputError, match="lists of names"):
        circuit.train(data, inputs="va", outputs=["y"])
    with pytest.raises(nudge.InputError, match="a file, or text"):
        nudge.Netlist()


def test_charge_leaks_off_gates_between_steps(tmp_path):
    """A gate that nothing moves holds (1 − λ)ⁿ of its voltage; one that learns stands off its target by what the leak takes."""
    (tmp_path / "gate.cir").write_text("gates\nVa a 0 0\nRa a 0 1k\nVf f 0 2\nRf f 0 1k\nVg g 0 0.1\nR1 g y 1k\nR2 y 0 1k\n")
    circuit = nudge.Netlist(tmp_path / "gate.cir")
    x = np.random.default_rng(0).uniform(-1, 1, (40, 1))
    data = x, np.full((40, 1), 0.5)  # v_y = v_g/2 should be 0.5, whatever the input
    settings = {**FEW, "inputs": ["va"], "outputs": ["y"], "learn": ["vf", "vg"], "train__optimizer": "sgd", "train__momentum": 0,
                "train__schedule": "constant", "train__warmup": 1, "train__learning_rate": 0.4, "train__steps": 200, "estimator": "adjoint"}
    leak, rate = 0.02, 0.4
    held = circuit.trained(circuit.train(data, **settings)).elements.value
    assert float(held.sel(element="vg")) == pytest.approx(1, rel=1e-6) and float(held.sel(element="vf")) == 2
    lost = circuit.trained(circuit.train(data, **settings, netlist__gate_leak=leak)).elements.value
    assert float(lost.sel(element="vf")) == pytest.approx(2 * (1 - leak) ** 200, rel=1e-9)
    # v = (1 − λ)(v − η (v/2 − t)/2) with t = 1/2; what is left of the way there is 0.98 · 0.9 a step.
    assert float(lost.sel(element="vg")) == pytest.approx((1 - leak) * rate / 4 / (leak + (1 - leak) * rate / 4), rel=1e-6)


def test_notes_say_what_was_left_aside():
    assert nudge.Netlist(text="t\nV1 a 0 1\nR1 a 0 1\n.print v(a)\n").notes == ["left aside, as no part of the circuit: .print"]
