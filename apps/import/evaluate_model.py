# SPDX-License-Identifier: Apache-2.0
"""Evaluates a Verilog-A model of a two-terminal device with one state over voltages and states, with the package openvaf-py.

Reads a JSON object from standard input: file, module ("" takes the only one), volts, states, state ("" is found), parameters, step_s.
Writes one to standard output: {"volts", "states", "rate", "current", "state", "module"}, or {"problem"} and what it is. Before it a
blank line at every voltage, so that who waits knows that it goes on.
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
    known = ("TimeDerivative", "BoundStep", "Print", "SetLimRhs", "StoreLimit")
    for name in module.callback_names:
        if not any(name.startswith(one) for one in known):
            raise Problem(f"calls {name}, which cannot be evaluated at a point")


class Evaluated:
    """The residuals of a module at a point: name -> value of its inputs."""

    def __init__(self, module, parameters):
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
                self.values.setdefault(name, 300.0)
            elif kind == "sysfun" and name == "mfactor":
                self.values[name] = 1.0
            elif kind == "param_given":
                self.values.setdefault(name, 0.0)
        dae = module.get_dae_system()
        self.nodes = [n["name"] for n in dae["nodes"]]
        self.kind_of_node = {n["name"]: n["kind"] for n in dae["nodes"]}
        self.terminals = dae["terminals"]
        self.jacobian = [(e["row_node_idx"], e["col_node_idx"]) for e in dae["jacobian"]]

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


def point_of(model, potentials):
    out = {}
    for name in voltage_inputs(model):
        plus, minus = split(name)
        out[name] = potentials.get(plus, 0.0) - (potentials.get(minus, 0.0) if minus else 0.0)
    return out


def dynamic_nodes(model):
    """Nodes whose residual holds a charge that depends on something: where d/dt acts."""
    point = point_of(model, {})
    _, jacobian = model.at(point)
    rows = {row for row, column, resist, react in jacobian if react != 0 and not math.isnan(react)}
    return [model.nodes[row] for row in sorted(rows)]


def of_state_node(model, wanted, node):
    """A node that is a state: charge q(x), current -f(x, V): dx/dt = -resist/(dq/dx)."""
    device = [t for t in model.terminals if t != node]
    if len(device) != 2:
        raise Problem(f"has the terminals {', '.join(model.terminals)}: a device with two, and a state, is needed")
    at_plus, at_state = model.nodes.index(device[0]), model.nodes.index(node)
    implicit = [n for n, k in model.kinds.items() if k == "implicit_unknown"]
    rates, currents = [], []
    for volt in wanted["volts"]:
        go_on()
        for state in wanted["states"]:
            inputs = point_of(model, {device[0]: volt, node: state})
            for name in implicit:
                inputs[name] = state
            residuals, jacobian = model.at(inputs)
            slope = sum(react for row, column, resist, react in jacobian if row == at_state and column == at_state)
            if slope == 0:
                raise Problem(f"the charge of {node} does not depend on it at {volt:g} V and state {state:g}")
            rates.append(-residuals[at_state][0] / slope)
            currents.append(residuals[at_plus][0])
    return rates, currents, node


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
    flow = BranchFlow(model)

    def current(volt, state, time):
        point = point_of(model, {device[0]: volt})
        point[name] = state
        point["$abstime"] = time
        for hidden, kind in model.kinds.items():
            if kind == "hidden_state":
                point[hidden] = 0.0
        return flow.of(point, plus)

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
    return rates, currents, name


class BranchFlow:
    """The current into the first terminal, whether the model gives it or keeps it as an unknown of its own."""

    def __init__(self, model):
        self.model = model
        extra = [i for i, n in enumerate(model.nodes) if model.kind_of_node[n] != "KirchoffLaw"]
        self.unknown = extra[0] if extra else None
        self.name = next((n for n, k in model.kinds.items() if k == "current"), None)

    def of(self, point, plus):
        if self.name is not None:
            point = dict(point, **{self.name: 0.0})
        residuals, jacobian = self.model.at(point)
        if self.unknown is None:
            return residuals[plus][0]
        # One equation in the current I, which is 0 here.
        slope = sum(resist for row, column, resist, react in jacobian if row == column == self.unknown)
        return -residuals[self.unknown][0] / slope


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
    model = Evaluated(module, wanted["parameters"])
    if wanted["state"] and wanted["state"].lower() in {p["name"].lower() for p in module.get_osdi_descriptor()["params"]}:
        rates, currents, state = of_initial_state(model, wanted, wanted["state"])
    else:
        nodes = dynamic_nodes(model)
        if wanted["state"] and wanted["state"] in nodes:
            nodes = [wanted["state"]]
        elif wanted["state"]:
            raise Problem(f"has no state {wanted['state']} (nodes with a charge: {', '.join(nodes) or 'none'}; or the parameter "
                          "that a state begins with)")
        if not nodes:
            raise Problem("has no node with a charge (ddt, idt): where its own variables are the state, --state NAME names the "
                          "parameter that the state begins with")
        if len(nodes) > 1:
            raise Problem(f"has {len(nodes)} nodes with a charge ({', '.join(nodes)}): one state is needed; --state names it")
        rates, currents, state = of_state_node(model, wanted, nodes[0])
    return {"volts": wanted["volts"], "states": wanted["states"], "rate": rates, "current": currents, "state": state,
            "module": module.name}


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
