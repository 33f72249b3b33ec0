// SPDX-License-Identifier: Apache-2.0
// nudge.Netlist: a circuit as arrays, its operating point, and what a run has learnt.
#include "netlist/netlist.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <map>

#include "circuits/netlist/memristor_devices.hpp"
#include "netlist/netlist_file.hpp"
#include "netlist/operating_point.hpp"
#include "python/src/bindings.hpp"
#include "python/src/computing.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "training/config/learnt_netlist.hpp"

namespace nudge::python {
namespace {

using Texts = std::vector<std::string>;

const char* kind_name(ElementKind kind) {
  static const std::map<ElementKind, const char*> names = {{ElementKind::resistor, "resistor"},
                                                           {ElementKind::capacitor, "capacitor"},
                                                           {ElementKind::voltage, "voltage"},
                                                           {ElementKind::current, "current"},
                                                           {ElementKind::diode, "diode"},
                                                           {ElementKind::vcvs, "vcvs"},
                                                           {ElementKind::vccs, "vccs"},
                                                           {ElementKind::cccs, "cccs"},
                                                           {ElementKind::ccvs, "ccvs"},
                                                           {ElementKind::mosfet, "mosfet"},
                                                           {ElementKind::formula_voltage, "formula_voltage"},
                                                           {ElementKind::formula_current, "formula_current"},
                                                           {ElementKind::inductor, "inductor"},
                                                           {ElementKind::bipolar, "bipolar"},
                                                           {ElementKind::curved_resistor, "curved_resistor"}};
  return names.at(kind);
}

/// Makes columns of the elements: name, kind, plus and minus (of a transistor drain and source; "0" is ground), value.
nb::dict elements(const Netlist& netlist) {
  Texts names, kinds, plus, minus;
  std::vector<double> values;
  const auto node = [&](int n) { return n == kGround ? std::string("0") : netlist.nodes[static_cast<std::size_t>(n)]; };
  for (const Element& e : netlist.elements) {
    names.push_back(e.name);
    kinds.emplace_back(kind_name(e.kind));
    plus.push_back(node(e.nodes[0]));
    minus.push_back(node(e.nodes[e.kind == ElementKind::mosfet || e.kind == ElementKind::bipolar ? 2 : 1]));
    values.push_back(e.value);
  }
  nb::dict out;
  out["name"] = names;
  out["kind"] = kinds;
  out["plus"] = plus;
  out["minus"] = minus;
  out["value"] = values;
  return out;
}

Netlist with_values(Netlist netlist, const Texts& names, const std::vector<double>& values) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int at = find_element(netlist, names[i]);
    if (at < 0) {
      Texts known;
      for (const Element& e : netlist.elements) known.push_back(e.name);
      throw UserError("no element " + names[i] + " (" + did_you_mean(names[i], known) + ")");
    }
    Element& e = netlist.elements[static_cast<std::size_t>(at)];
    if (((kBentKinds & kind_bit(e.kind)) != 0 && !has_resistance(e.kind)) || e.charge) {
      throw UserError(names[i] + ": is described by a .model or an expression and has no value");
    }
    if (!std::isfinite(values[i]) || (has_resistance(e.kind) && values[i] == 0)) {
      throw UserError(names[i] + ": a value must be finite, and of a resistor not 0");
    }
    e.value = values[i];
  }
  return netlist;
}

/// Solves the operating point: (voltages of the nodes, currents of the sources of voltage by name, largest net current
/// of a node).
nb::tuple operating_point(const Netlist& netlist) {
  const NodalEquations equations(netlist);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  const OperatingPoint found =
      compute([&] { return OperatingPointSolver(equations).solve(equations.values(), {}, x); });
  if (found.status != Status::converged) throw NumericalFailure(describe_failure(equations, found));
  nb::dict currents;
  for (std::size_t k = 0; k < netlist.elements.size(); ++k) {
    const int branch = equations.branch(k);
    if (branch >= 0) currents[netlist.elements[k].name.c_str()] = x[static_cast<std::size_t>(branch)];
  }
  x.resize(netlist.nodes.size());
  return nb::make_tuple(x, currents, found.residual_A);
}

Netlist parsed(const std::string& name, const std::string& text) {
  return parse_netlist(name, text, [](const std::string& file, const std::string&, std::string&) -> std::string {
    throw UserError(".include " + file + ": of a text (write it to a file)");
  }, {}, device_memristors());
}

}  // namespace

void bind_netlist(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Netlist>(m, "Netlist")
      .def_ro("title", &Netlist::title)
      .def_ro("nodes", &Netlist::nodes)
      .def_ro("notes", &Netlist::notes)
      .def("elements", elements)
      .def(
          "with_values",
          [](const Netlist& netlist, const Texts& names, const std::vector<double>& values) {
            return with_values(netlist, names, values);
          },
          "names"_a, "values"_a)
      .def("operating_point", operating_point)
      .def("text", &netlist_text, "note"_a);
  m.def(
      "read_netlist", [](const std::string& file) { return read_device_netlist(file); }, "file"_a);
  m.def("parse_netlist", parsed, "name"_a, "text"_a);
  m.def(
      "learnt_netlist",
      [](const std::string& run, const std::string& file) {
        LearntNetlist found = compute([&] { return learnt_netlist(run, file); });
        return nb::make_tuple(std::move(found.before), std::move(found.after));
      },
      "run"_a, "file"_a, "The netlists before and after the training of a run file.");
}

}  // namespace nudge::python
