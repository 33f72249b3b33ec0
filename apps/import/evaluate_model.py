# SPDX-License-Identifier: Apache-2.0
"""Evaluates a Verilog-A model of a two-terminal device with one state over voltages and states, with the package openvaf-py.

Reads a JSON object from standard input: file, module ("" takes the only one), volts, states, state ("" is found), parameters, step_s,
temperature_K, width_s (of a pulse). Writes one to standard output: {"volts", "states", "rate", "current", "state", "module", "settled",
"time_constant_s"}, or {"problem"} and what it is. "settled" names inner nodes with a charge, which the table holds at their steady state,
and "time_constant_s" is the longest in which they reach it. Before the answer a blank line at every voltage, so that who waits knows that
it goes on.
"""
import json
import math
import re
import sys


class Problem(Exception):
    pass


def go_on():
    print(flush=True)


def module_of(openvaf, wanted):
    try:
        modules = openvaf.compile_va(wanted["file"])
    except Exception as error:
        raise Problem(f"openvaf-py does not compile it: {str(error).strip() or type(error).__name__}")
    names = [m.name for m in modules]
    if wanted["module"]:
        if wanted["module"] not in names:
            raise Problem(f"has no module {wanted['module']} (it has {', '.join(names)})")
        return modules[names.index(wanted["module"])]
    if len(modules) != 1:
        raise Problem(f"has {len(modules)} modules ({', '.join(names)}): --module names one")
    return modules[0]


def check_calls(module):
    """What the interpreter cannot give: random numbers, what it does not know."""
    known = ("TimeDerivative", "BoundStep", "Print", "SetLimRhs", "StoreLimit", "CollapseHint")
    for name in module.callback_names:
        if not any(name.startswith(one) for one in known):
            raise Problem(f"calls {name}, which cannot be evaluated at a point")


class Evaluated:
    """The residuals of a module at a point: name -> value of its inputs."""

    def __init__(self, module, parameters, temperature_K):
        self.module = module
        kinds = dict(zip(module.param_names, module.param_kinds))
        kinds.update({n: k for n, k in zip(module.init_param_names, module.init_param_kinds)})
        self.kinds = kinds
        names = {name.lower(): name for name, kind in kinds.items() if kind == "param"}
        described = {p["name"].lower() for p in module.get_osdi_descriptor()["params"]}
        defaults = module.get_param_defaults()
        self.values = {}
        for name in names:
            if name in defaults:
                self.values[names[name]] = defaults[name]
        for name, value in parameters.items():
            if name.lower() not in described:
                raise Problem(f"has no parameter {name} (it has {', '.join(sorted(described))})")
            self.values[names.get(name.lower(), name)] = value
        missing = [full for low, full in names.items() if full not in self.values]
        if missing:
            raise Problem(f"the default of {', '.join(missing)} is no plain number: --parameter {missing[0]}=VALUE gives one")
        for name, kind in kinds.items():
            if kind == "temperature":
                self.values[name] = temperature_K
            elif kind == "sysfun" and name == "mfactor":
                self.values[name] = 1.0
            elif kind == "param_given":
                self.values.setdefault(name, 0.0)
        dae = module.get_dae_system()
        self.nodes = [n["name"] for n in dae["nodes"]]
        self.kind_of_node = {n["name"]: n["kind"] for n in dae["nodes"]}
        self.terminals = dae["terminals"]
        self.inputs = {node: self.input_of(node) for node, kind in self.kind_of_node.items() if kind != "KirchoffLaw"}
        for pair in dae["collapsible_pairs"]:
            self.check_apart(pair["node1_name"], pair["node2_name"])

    def input_of(self, node):
        """The input that is an unknown other than a potential: 'flow(a,b)' is the current 'I(a,b)', the k-th implicit equation 'inodek'."""
        name = "I" + node[len("flow"):] if node.startswith("flow(") else "inode" + node.rsplit("_", 1)[-1]
        if name not in self.kinds:
            raise Problem(f"has an unknown of its own ({node}), whose value openvaf-py does not take")
        return name

    def check_apart(self, one, other):
        """V(a,b) <+ 0 makes one node of two, which the interpreter leaves apart and unconnected."""
        ends = {self.nodes.index(one), self.nodes.index(other)}
        _, jacobian = self.at(point_of(self, {}))
        if not any({row, column} == ends and resist != 0 for row, column, resist, react in jacobian):
            raise Problem(f"joins the nodes {one} and {other} at these parameters (V({one},{other}) <+ 0), which openvaf-py leaves "
                          "unconnected: --parameter gives the element between them a small resistance instead")

    def at(self, inputs):
        point = dict(self.values)
        point.update(inputs)
        residuals, jacobian = self.module.run_init_eval(point)
        return residuals, jacobian


def voltage_inputs(model):
    return [name for name, kind in model.kinds.items() if kind == "voltage"]


def split(name):
    """'V(p,n)' -> ('p', 'n'), 'V(x)' -> ('x', None)."""
    inside = name[name.index("(") + 1 : -1].split(",")
    return inside[0].strip(), inside[1].strip() if len(inside) > 1 else None


def point_of(model, values):
    """Inputs of the model for the values of its nodes and other unknowns by name; 0 where none is given."""
    out = {name: values.get(node, 0.0) for node, name in model.inputs.items()}
    for name in voltage_inputs(model):
        plus, minus = split(name)
        out[name] = values.get(plus, 0.0) - (values.get(minus, 0.0) if minus else 0.0)
    return out


def charged_nodes(model):
    """Nodes whose residual holds a charge that depends on something: where d/dt acts."""
    _, jacobian = model.at(point_of(model, {}))
    rows = {row for row, column, resist, react in jacobian if react != 0 and not math.isnan(react)}
    return [model.nodes[row] for row in sorted(rows)]


def factored(matrix):
    """LU factors with row exchanges, or None where the matrix is singular or not finite."""
    a = [list(row) for row in matrix]
    order = list(range(len(a)))
    sizes = [max((abs(v) for v in row), default=0) for row in a]
    if not all(0 < size < math.inf for size in sizes):
        return None
    for k in range(len(a)):
        pivot = max(range(k, len(a)), key=lambda i: abs(a[i][k]) / sizes[i])
        # What is left of a column that depends on the others is rounding, about 1e-16 of its row.
        if not abs(a[pivot][k]) > 1e-14 * sizes[pivot]:
            return None
        for rows in (a, order, sizes):
            rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, len(a)):
            a[i][k] /= a[k][k]
            for j in range(k + 1, len(a)):
                a[i][j] -= a[i][k] * a[k][j]
    return a, order


def solved(factors, right):
    a, order = factors
    x = [right[i] for i in order]
    for i in range(len(a)):
        x[i] -= sum(a[i][j] * x[j] for j in range(i))
    for i in reversed(range(len(a))):
        x[i] = (x[i] - sum(a[i][j] * x[j] for j in range(i + 1, len(a)))) / a[i][i]
    return x


class Circuit:
    """Unknowns inside the device (inner nodes, currents of branches) by Kirchhoff's laws, everything else held: r(z) = 0 by Newton's
    method with the Jacobian of the model. A step is shortened until the next one would be shorter (natural monotonicity, Deuflhard,
    Newton Methods for Nonlinear Problems, 2004, section 3.3), which no unit of a row changes."""

    def __init__(self, model, held):
        self.model = model
        self.names = [node for node in model.nodes if node not in held]
        self.rows = [model.nodes.index(node) for node in self.names]
        self.place = {row: k for k, row in enumerate(self.rows)}
        # A volt, or a microampere of a branch: what is large.
        self.scale = [1e-6 if model.kind_of_node[node] == "BranchCurrent" else 1.0 for node in self.names]
        self.last = [0.0] * len(self.names)  # solution of the point before
        self.charged = set()
        self.time_constant_s = 0.0

    def at(self, held, extra, z):
        return self.model.at(dict(point_of(self.model, dict(zip(self.names, z), **held)), **extra))

    def part(self, jacobian, which):
        out = [[0.0] * len(self.rows) for _ in self.rows]
        for entry in jacobian:
            if entry[0] in self.place and entry[1] in self.place:
                out[self.place[entry[0]]][self.place[entry[1]]] += entry[which]
        return out

    def size(self, step):
        sizes = [abs(d) / s for d, s in zip(step, self.scale)]
        return max(sizes) if all(math.isfinite(d) for d in sizes) else math.inf

    def newton(self, held, extra, z):
        """The solution from z on, or None and the node that did not come to rest."""
        residuals, jacobian = self.at(held, extra, z)
        for _ in range(200):
            factors = factored(self.part(jacobian, 2))
            if factors is None:
                return None, None
            step = solved(factors, [-residuals[row][0] for row in self.rows])
            worst = self.names[max(range(len(step)), key=lambda k: abs(step[k]) / self.scale[k])]
            share = 1.0
            while True:
                there = [a + share * d for a, d in zip(z, step)]
                residuals, jacobian = self.at(held, extra, there)
                behind = self.size(solved(factors, [-residuals[row][0] for row in self.rows]))
                if behind <= (1 - share / 4) * self.size(step) or self.size(step) < 1e-12:
                    break
                share /= 2
                if share < 1e-9:
                    return None, worst
            z = there
            # Newton's order doubles the digits: behind a step of 1e-8 the next would be rounding.
            if share == 1 and all(abs(d) <= 1e-8 * abs(v) + 1e-12 * s for d, v, s in zip(step, z, self.scale)):
                return z, None
        return None, worst

    def solve(self, held, extra, plus):
        """Values of everything at this point; the voltage of `plus` comes in shares of it where Newton's method fails at once."""
        if not self.names:
            return self.at(held, extra, [])
        z, worst = self.newton(held, extra, self.last)
        if z is None:
            z, come, share = [0.0] * len(self.names), 0.0, 1.0
            while come < 1:
                to = min(1.0, come + share)
                there, worst = self.newton(dict(held, **{plus: to * held[plus]}), extra, z)
                if there is not None:
                    z, come = there, to
                elif share > 1e-4:
                    share /= 4
                else:
                    self.fail(held, worst)
        self.last = z
        residuals, jacobian = self.at(held, extra, z)
        self.note_charges(jacobian)
        return residuals, jacobian

    def fail(self, held, worst):
        point = ", ".join(f"{name} = {value:g}" for name, value in held.items())
        if worst is None:
            raise Problem(f"Kirchhoff's law gives no voltage to its inner nodes ({', '.join(self.names)}) at {point}: the equations are "
                          "singular, as where nothing connects a node")
        raise Problem(f"Newton's method finds no voltage of its inner node {worst} at {point}")

    def note_charges(self, jacobian):
        """The slowest mode of the inner nodes, dz/dt = -C^-1 G z: the largest eigenvalue of G^-1 C, by powers of it."""
        charges = self.part(jacobian, 3)
        moved = [k for k in range(len(self.names)) if any(v != 0 for v in charges[k])]
        if not moved:
            return
        self.charged.update(self.names[k] for k in moved)
        factors = factored(self.part(jacobian, 2))
        x = [1.0] * len(self.names)
        for _ in range(50):
            y = solved(factors, [sum(c * v for c, v in zip(row, x)) for row in charges])
            largest = max(y, key=abs)
            if not math.isfinite(largest) or largest == 0:
                return
            x = [v / largest for v in y]
        if largest < 0:
            raise Problem(f"does not stay where its inner nodes settle ({', '.join(sorted(self.charged))}): they run away, and a table over "
                          "one state cannot say where to")
        self.time_constant_s = max(self.time_constant_s, largest)


def of_state_node(model, wanted, node):
    """A node that is a state: charge q(x), current -f(x, V): dx/dt = -resist/(dq/dx). Inner nodes are where Kirchhoff's law puts them."""
    device = [t for t in model.terminals if t != node]
    if len(device) != 2:
        raise Problem(f"has the terminals {', '.join(model.terminals)}: a device with two, and a state, is needed")
    at_plus, at_state = model.nodes.index(device[0]), model.nodes.index(node)
    circuit = Circuit(model, {*device, node})
    rates, currents = [], []
    for volt in wanted["volts"]:
        go_on()
        for state in wanted["states"]:
            residuals, jacobian = circuit.solve({device[0]: volt, node: state}, {}, device[0])
            charge = [(column, react) for row, column, resist, react in jacobian if row == at_state and react != 0]
            others = {model.nodes[column] for column, react in charge} - {node}
            if others:
                raise Problem(f"the charge of {node} depends on {', '.join(sorted(others))} too: a state with a charge of its own is needed")
            slope = sum(react for column, react in charge)
            if slope == 0:
                raise Problem(f"the charge of {node} does not depend on it at {volt:g} V and state {state:g}")
            rates.append(-residuals[at_state][0] / slope)
            currents.append(residuals[at_plus][0])
    return rates, currents, node, circuit


def of_initial_state(model, wanted, name):
    """A state that the model moves itself by the steps of a simulator, from a parameter `name` at time 0: the current behind one step is that
    of the state to which the step has moved it, which tells how far that is."""
    name = next(n for n in model.values if n.lower() == name.lower())
    if "$abstime" not in model.kinds:
        raise Problem(f"moves no state by time ($abstime): the parameter {name} is no state")
    device = model.terminals
    if len(device) != 2:
        raise Problem(f"has the terminals {', '.join(device)}: a device with two is needed")
    plus = model.nodes.index(device[0])
    circuit = Circuit(model, set(device))
    hidden = {one: 0.0 for one, kind in model.kinds.items() if kind == "hidden_state"}

    def current(volt, state, time):
        residuals, _ = circuit.solve({device[0]: volt}, dict(hidden, **{name: state, "$abstime": time}), device[0])
        return residuals[plus][0]

    states, dt = wanted["states"], wanted["step_s"]
    low, high = states[0], states[-1]
    rates, currents = [], []
    for volt in wanted["volts"]:
        go_on()
        for state in states:
            here = current(volt, state, 0.0)
            currents.append(here)
            if volt == 0:
                rates.append(0.0)  # no current tells
                continue
            # To first order in a small change: the step's change of the current over the current's slope in the state.
            h = 1e-6 * (high - low) if state < high else -1e-6 * (high - low)
            slope = (current(volt, state + h, 0.0) - here) / h
            if slope == 0:
                raise Problem(f"its current does not depend on the state at {state:g} and {volt:g} V")
            rates.append((current(volt, state, dt) - here) / slope / dt)
    return rates, currents, name, circuit


def check_settled(circuit, width_s):
    """Inner nodes with a charge have to settle within a pulse: e^-10 of the way is left behind ten time constants."""
    if circuit.time_constant_s > width_s / 10:
        raise Problem(f"its inner nodes with a charge ({', '.join(sorted(circuit.charged))}) settle with a time constant of "
                      f"{circuit.time_constant_s:.3g} s, and a pulse lasts {width_s:.3g} s: a table over one state holds them where they "
                      "settle, so --width has to be ten time constants at least")


def evaluate(wanted):
    try:
        import openvaf_py
    except ImportError:
        raise Problem(f"needs the Python package openvaf-py, which {sys.executable} does not have: pip install openvaf-py "
                      "(--python names another interpreter)")
    with open(wanted["file"]) as file:
        text = file.read()
    for word in ("$rdist_", "$random", "$dist_"):
        if word in text:
            raise Problem(f"draws random numbers ({word}...): its current and speed are not functions of voltage and state")
    array = re.search(r"\bparameter\s+(?:real|integer)?\s*(\w+)\s*\[", text)
    if array:
        raise Problem(f"has an array of parameters ({array.group(1)}), which openvaf-py does not read: give its numbers as single ones")
    module = module_of(openvaf_py, wanted)
    check_calls(module)
    if "enable_integration" in module.param_kinds:
        raise Problem("keeps its state by idt(), which openvaf-py holds at its start: write it as a node, I(x) <+ ddt(V(x)) - speed")
    model = Evaluated(module, wanted["parameters"], wanted["temperature_K"])
    if wanted["state"] and wanted["state"].lower() in {p["name"].lower() for p in module.get_osdi_descriptor()["params"]}:
        rates, currents, state, circuit = of_initial_state(model, wanted, wanted["state"])
    else:
        nodes = charged_nodes(model)
        if wanted["state"] and wanted["state"] in nodes:
            nodes = [wanted["state"]]
        elif wanted["state"]:
            raise Problem(f"has no state {wanted['state']} (nodes with a charge: {', '.join(nodes) or 'none'}; or the parameter "
                          "that a state begins with)")
        if not nodes:
            raise Problem("has no node with a charge (ddt, idt): where its own variables are the state, --state NAME names the "
                          "parameter that the state begins with")
        if len(nodes) > 1:
            raise Problem(f"has {len(nodes)} nodes with a charge ({', '.join(nodes)}): one state is needed; --state names it, "
                          "and the others are held where they settle")
        rates, currents, state, circuit = of_state_node(model, wanted, nodes[0])
    check_settled(circuit, wanted["width_s"])
    return {"volts": wanted["volts"], "states": wanted["states"], "rate": rates, "current": currents, "state": state,
            "module": module.name, "settled": sorted(circuit.charged), "time_constant_s": circuit.time_constant_s}


def finite(values):
    return [value if math.isfinite(value) else None for value in values]


def main():
    try:
        out = evaluate(json.load(sys.stdin))
        out["rate"], out["current"] = finite(out["rate"]), finite(out["current"])
    except Problem as problem:
        out = {"problem": str(problem)}
    json.dump(out, sys.stdout)


main()
