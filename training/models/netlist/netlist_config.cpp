// SPDX-License-Identifier: Apache-2.0
#include "training/models/netlist/netlist_plan.hpp"

#include <algorithm>

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/netlist/memristor_devices.hpp"
#include "devices/device_config.hpp"
#include "netlist/netlist_file.hpp"
#include "netlist/node_capacitances.hpp"
#include "sim/base/errors.hpp"
#include "training/data/data_options.hpp"
#include "training/models/model_options.hpp"

namespace nudge {

const Section<NetlistKeys>& netlist_section() {
  using param::integer, param::path, param::quantity, param::real, param::texts, param::zero_is;
  static const Section<NetlistKeys> section = [] {
    Section<NetlistKeys> all = {
        field(path("netlist.file", "", "SPICE netlist of a network.kind = netlist (docs/reference/netlists.md)."),
              &NetlistKeys::file),
        field(texts("netlist.inputs", "[]", {},
                    "Independent sources that the features of a sample set, in this order: names, or globs, which "
                    "match sources in the order of the file."),
              &NetlistKeys::inputs),
        field(texts("netlist.mirrored", "[]", {},
                    "Sources that the same features set with the other sign, offset - scale x. Resistors are never "
                    "negative; with these sources they can weigh either sign. As many as features, or none."),
              &NetlistKeys::mirrored),
        field(real("netlist.input_scale", "1", any_number(), "Volts (or amperes) of an input per unit of its feature."),
              &NetlistKeys::input_scale),
        field(real("netlist.input_offset", "0", any_number(), "Volts (or amperes) of an input whose feature is 0."),
              &NetlistKeys::input_offset),
        field(texts("netlist.outputs", "[]", {},
                    "Outputs that the cost compares with the targets, in units of circuit.read_voltage: a node, or "
                    "\"plus,minus\", one per class or value."),
              &NetlistKeys::outputs),
        field(texts("netlist.learn", "[\"r*\"]", {},
                    "Globs of the resistors, memristors and independent sources whose values learn; * stands for any "
                    "characters, ? for one."),
              &NetlistKeys::learn),
        field(zero_is(
                  "auto",
                  quantity("netlist.conductance", "auto", Unit::siemens, at_least(0),
                           "Conductance of the number 1, and of beta 1 at an output. Every node has this conductance "
                           "times circuit.time_constant as capacitance. auto: the mean of the resistors that learn.")),
              &NetlistKeys::conductance),
        field(real("netlist.initial_spread", "0", at_least(0),
                   "Standard deviation of the logarithm of the initial conductances that learn, around those of the "
                   "file; drawn by seed."),
              &NetlistKeys::initial_spread),
        field(real("netlist.twin_mismatch", "0", at_least(0),
                   "Mismatch of a twin circuit that holds the clamped state: standard deviation of the logarithm of "
                   "its conductances around those that learn. Circuits that hold both states at once have such a "
                   "twin. With nudges of both signs the twin holds +beta. For relaxation.solver = direct.",
                   "Dillavou et al. 2022, doi:10.1103/PhysRevApplied.18.014040"),
              &NetlistKeys::twin_mismatch),
        field(real("netlist.gate_leak", "0", from_below(0, 1),
                   "Share of the value of every learning source that is lost per training step: charge leaks off "
                   "its gate."),
              &NetlistKeys::gate_leak),
        field(zero_is("off", quantity("netlist.gate_leak_time", "off", Unit::second, at_least(0),
                                      "The same leak by its time constant t: 1 - exp(-T/t) per step of duration T, "
                                      "which is netlist.clock for every phase of every sample of the batch.")),
              &NetlistKeys::gate_leak_time),
        field(zero_is("auto", quantity("netlist.node_capacitance", "auto", Unit::farad, at_least(0),
                                       "Parasitic capacitance from every node to ground, in addition to drawn "
                                       "capacitors. auto: every column of the state has netlist.conductance times "
                                       "circuit.time_constant, and drawn capacitors carry no current.")),
              &NetlistKeys::node_capacitance),
        field(texts("netlist.capacitances", "[]", {},
                    "Exceptions for single nodes: entries \"NODE = 200 fF\", with names or globs; the last match "
                    "counts."),
              &NetlistKeys::capacitances),
        field(zero_is("settled",
                      quantity(
                          "netlist.delay", "settled", Unit::second, at_least(0),
                          "Time from switching inputs or outputs to reading a free or clamped state, settled or not. A "
                          "mode of rate G/C then lacks exp(-t G/C) of its change. For relaxation.solver = direct.",
                          "Stern et al. 2022, arXiv:2112.11399")),
              &NetlistKeys::delay),
        field(zero_is("off", quantity("netlist.clock", "off", Unit::second, at_least(0),
                                      "Period of the clock. Each phase lasts one period and is read netlist.delay "
                                      "after its beginning, or at its end. A clamped phase begins where the free "
                                      "one ended.",
                                      "Dillavou et al. 2022, doi:10.1103/PhysRevApplied.18.014040")),
              &NetlistKeys::clock),
        field(zero_is(
                  "auto",
                  quantity("netlist.flicker_slowest", "auto", Unit::second, at_least(0),
                           "Longest time constant of the 1/f noise (KF and AF of the model cards) of diodes and "
                           "transistors. The noise continues through the phases of a sample and restarts with the next "
                           "sample. auto: 1000 circuit.time_constant. For relaxation.solver = euler with "
                           "circuit.thermal_noise.")),
              &NetlistKeys::flicker_slowest),
        field(integer("netlist.elements_limit", std::to_string(NetlistLimit::standard), at_least(1),
                      "Most elements of the netlist, instances of .subckt included; a larger netlist is an error. "
                      "Each takes about 1 kB."),
              &NetlistKeys::elements_limit)};
    using K = NetlistKeys;
    const auto solver = [](const char* name) { return chosen("relaxation.solver", {name}); };
    all.where(solver("direct"), {&K::twin_mismatch, &K::delay, &K::clock});
    all.where(above_zero("netlist.node_capacitance"), {&K::capacitances, &K::delay, &K::clock});
    all.where(solver("euler"), {&K::flicker_slowest});
    all.where(switched_on("circuit.thermal_noise"), {&K::flicker_slowest});
    all.where(above_zero("netlist.clock"), {&K::gate_leak_time});
    return all;
  }();
  return section;
}

namespace {

/// Replaces globs of sources by the names that fit them, in the order of the netlist. A glob that fits none stays, to
/// be refused by name.
std::vector<std::string> source_names(const Netlist& netlist, const std::vector<std::string>& globs) {
  std::vector<std::string> names;
  for (const std::string& glob : globs) {
    const std::size_t before = names.size();
    for (const Element& e : netlist.elements) {
      const bool source = e.kind == ElementKind::voltage || e.kind == ElementKind::current;
      if (source && fits_glob(glob, e.name)) names.push_back(e.name);
    }
    if (names.size() == before) names.push_back(glob);
  }
  return names;
}

}  // namespace

void check_netlist_keys(const Config& config) {
  const NetlistKeys keys = netlist_section().read(config);
  if (keys.file.empty())
    throw UserError("netlist.file is empty (must name a SPICE netlist for network.kind = netlist)");
  const Netlist netlist = read_config_netlist(config);
  check_netlist_rules(config, netlist);
}

std::string netlist_device_text(const std::string& file) {
  try {
    const Netlist netlist = read_device_netlist(file);
    const Element* first = first_memristor(netlist);
    return first == nullptr ? "" : first->memristor->settings;
  } catch (const UserError&) {
    return "";  // check_netlist_keys() says what is wrong
  }
}

Netlist read_config_netlist(const Config& config, const std::string& file) {
  const NetlistKeys keys = netlist_section().read(config);
  Netlist netlist =
      read_device_netlist(file.empty() ? keys.file : file, {keys.elements_limit, "netlist.elements_limit"});
  // Keys of [device] replace numbers of the netlist's device; the frozen twin of a run keeps its curve.
  if (first_memristor(netlist) != nullptr && on_devices(config))
    set_memristor_curves(netlist, crossbar_spec(config).device);
  return netlist;
}

namespace {

constexpr double kFlickerPeriods = 1000;  // circuit.time_constant in netlist.flicker_slowest = auto

NetlistChoice netlist_choice(const Config& config, const Netlist& netlist) {
  const NetlistKeys keys = netlist_section().read(config);
  NetlistChoice choice;
  choice.inputs = source_names(netlist, keys.inputs);
  choice.mirrored = source_names(netlist, keys.mirrored);
  choice.outputs = keys.outputs;
  choice.learn = keys.learn;
  choice.scale = keys.input_scale;
  choice.offset = keys.input_offset;
  choice.conductance_S = keys.conductance;
  const CircuitSpec circuit = circuit_section().read(config);
  choice.volts = circuit.read_voltage_V;
  choice.tau_s = circuit.time_constant_s;
  choice.spread = keys.initial_spread;
  choice.twin_mismatch = keys.twin_mismatch;
  choice.gate_leak = keys.gate_leak;
  if (keys.gate_leak_time > 0) choice.gate_leak_periods = keys.gate_leak_time / keys.clock;
  if (keys.node_capacitance > 0) {
    choice.node_capacitance_F =
        node_capacitances(netlist, keys.node_capacitance, keys.capacitances, "netlist.capacitances");
  }
  choice.flicker_slowest_s = keys.flicker_slowest > 0 ? keys.flicker_slowest : kFlickerPeriods * choice.tau_s;
  choice.delay_s = keys.delay > 0 ? keys.delay : keys.clock;
  choice.clock_s = keys.clock > 0 ? keys.clock : keys.delay;
  choice.seed = run_seed(config);
  return choice;
}

}  // namespace

std::shared_ptr<const NetworkPlan> netlist_plan(const Config& config, const TaskSizes& task) {
  check_netlist_keys(config);
  Netlist netlist = read_config_netlist(config);
  NetlistChoice choice = netlist_choice(config, netlist);
  choice.rows = task.rows;
  return std::make_shared<NetlistPlan>(std::move(netlist), std::move(choice), task.features,
                                       task.classes > 0 ? task.classes : task.values);
}

std::shared_ptr<const NetlistPlan> netlist_plan_alone(const Config& config, const std::string& file) {
  if (file.empty()) check_netlist_keys(config);
  Netlist netlist = read_config_netlist(config, file);
  NetlistChoice choice = netlist_choice(config, netlist);
  const auto features = static_cast<Index>(choice.inputs.size()), values = static_cast<Index>(choice.outputs.size());
  return std::make_shared<NetlistPlan>(std::move(netlist), std::move(choice), features, values);
}

StateFacts netlist_states(const Config& config) {
  const NetlistKeys keys = netlist_section().read(config);
  StateFacts facts{.direct = true};
  if (keys.node_capacitance > 0) facts.timed = "netlist.node_capacitance";
  if (!keys.capacitances.empty()) facts.unequal = "netlist.capacitances";
  return facts;
}

bool draws_memristors(const Config& config) {
  const std::string file = netlist_section().read(config).file;
  return !file.empty() && !netlist_device_text(file).empty();
}

bool netlist_contrasts(const Config& config) {
  try {
    const Netlist netlist = read_config_netlist(config);
    const auto have = [&netlist](std::uint32_t kinds) {
      return std::any_of(netlist.elements.begin(), netlist.elements.end(),
                         [&](const Element& e) { return (kinds & kind_bit(e.kind)) != 0; });
    };
    if (have(kinds_of_part(Part::nonconservative, true) | kind_bit(ElementKind::ccvs) |
             kind_bit(ElementKind::formula_voltage)))
      return false;
    const bool coupled = have(kind_bit(ElementKind::vcvs) | kind_bit(ElementKind::cccs));
    return !coupled || netlist_plan_alone(config, "")->reciprocal();
  } catch (const UserError&) {
    return true;  // check() or the plan says what is wrong, which an estimator refused before would hide
  }
}

ParamTable netlist_keys() { return with_weights(netlist_section().rows()); }

}  // namespace nudge
