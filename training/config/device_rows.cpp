// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/linear_map_factory.hpp"
#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/reading.hpp"
#include "training/config/assembly.hpp"
#include "training/config/hardware.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/models/netlist/netlist_plan.hpp"
#include "training/models/registry.hpp"

namespace nudge {

Condition with_edges() {
  return {"network.kind", [](const Config& c) { return !network_kind(c).bare || !on_devices(c); },
          "a network whose nodes are not loaded by the lines of its arrays", Unread::refused_always};
}

namespace {

/// Where the curve of devices counts: in reads of arrays, and in the equations of a netlist that draws memristors.
Condition with_curves() {
  Condition condition = with_edges();
  const auto edges = condition.holds;
  condition.holds = [edges](const Config& c) {
    return edges(c) || (network_kind(c).name == "netlist" && draws_memristors(c));
  };
  return condition;
}

Condition with_clamps() {
  return {"network.kind", [](const Config& c) { return network_kind(c).leak(c).at(1) > 0; },
          "a network whose nodes have a clamp, a leak of their own", Unread::refused_always};
}

std::vector<Member<CrossbarSpec>> at_edges() {
  using C = CrossbarSpec;
  using W = WireSpec;
  return {{&C::wires, &W::row_ohm},
          {&C::wires, &W::column_ohm},
          {&C::wires, &W::driver_ohm},
          {&C::wires, &W::sense_ohm},
          {&C::periphery, &PeripherySpec::forward},
          {&C::periphery, &PeripherySpec::transposed},
          {&C::circuit, &CircuitSpec::gain_bandwidth_Hz},
          {&C::circuit, &CircuitSpec::amplifier_bandwidth_Hz},
          {&C::circuit, &CircuitSpec::auto_zero},
          {&C::circuit, &CircuitSpec::zero_capacitance_F},
          {&C::circuit, &CircuitSpec::shot_noise},
          {&C::circuit, &CircuitSpec::phase_adc},
          {&C::mapping, &MappingSpec::kind}};
}

}  // namespace

/// What takes the gain-bandwidth: the pole of nodes that move by steps, or the power of a named amplifier.
Condition with_gain_bandwidth() {
  const auto taken = [](const Config& c) {
    const EstimatorOptions phases = phase_options(c).phases;
    const bool moves = phases.free.solver == SettleSolver::euler && !phase_options(c).sweeps();
    const bool open = circuit_section().read(c).amplifier_bandwidth_Hz == 0;
    return (moves && open) || c.text("circuit.amplifier") != "none";
  };
  return {
      "circuit.amplifier", taken,
      "a published amplifier, whose power it sets, or relaxation.solver = euler with relaxation.schedule = parallel "
      "and circuit.amplifier_bandwidth = auto"};
}

Condition devices_or_warning() {
  Condition devices = with_devices();
  devices.unread = Unread::warned;
  return devices;
}

ParamTable device_rows() {
  ParamTable table = {device_preset_row()};
  for (ParamRow& row : device_param_rows()) {
    if (row.key == "device.iv_sinh" || row.key == "device.iv_cubic") row = read_with(with_curves(), std::move(row));
    table.push_back(read_with(devices_or_warning(), std::move(row)));
  }
  Section<CrossbarSpec> arrays = crossbar_section();
  arrays.where(with_edges(), at_edges());
  using P = ProgrammingSpec;
  arrays.where({"crossbar.update", pulses_multiply, "coincidence"},
               {{&CrossbarSpec::programming, &P::train}, {&CrossbarSpec::programming, &P::order}});
  arrays.where(with_gain_bandwidth(), {{&CrossbarSpec::circuit, &CircuitSpec::gain_bandwidth_Hz}});
  // Nodes of exact numbers have a time constant and a pole; where resistors join them, volts, a temperature and a capacitance too.
  using C = CrossbarSpec;
  arrays.where(with_clamps(), {{&C::circuit, &CircuitSpec::leak_spread}});
  const ParamTable of_any = arrays.rows_of(
      {{&C::circuit, &CircuitSpec::time_constant_s}, {&C::circuit, &CircuitSpec::amplifier_bandwidth_Hz}});
  const ParamTable of_bare = arrays.rows_of({{&C::circuit, &CircuitSpec::read_voltage_V},
                                             {&C::circuit, &CircuitSpec::temperature_K},
                                             {&C::circuit, &CircuitSpec::node_capacitance_F}});
  const auto listed = [](const ParamTable& rows, const ParamRow& row) { return find_row(rows, row.key) != nullptr; };
  Condition joined = devices_or_warning();
  joined.holds = [devices = joined.holds](const Config& c) { return devices(c) || network_kind(c).bare; };
  for (const ParamRow& row : arrays.rows()) {
    table.push_back(listed(of_any, row) ? row : read_with(listed(of_bare, row) ? joined : devices_or_warning(), row));
  }
  return table;
}

// What devices and their arrays refuse when they are made. One device is made to ask it: it knows its own rules.

void expect_sound_devices(const Config& config) {
  const CrossbarSpec spec = crossbar_spec(config);
  validate_linear_map(spec);
  CrossbarSpec resistors = spec;
  const SettleSolver solver = phase_options(config).phases.free.solver;
  const bool netlist = network_kind(config).name == "netlist";
  // That of their nodes is sampled.
  if (solver == SettleSolver::coordinate || netlist) resistors.circuit.thermal_noise = false;
  const bool noisy = make_linear_map<float>(resistors, Matrix<float>::Ones(1, 1), 0, 0)->noisy();
  resistors.device.read_noise = resistors.device.read_saturating_S = 0;  // the circuit's own reads have it
  resistors.device.noise.white_S.clear();
  if (netlist && noisy && make_linear_map<float>(resistors, Matrix<float>::Ones(1, 1), 0, 0)->noisy()) {
    throw UserError(
        "network.kind = netlist has no slow noise of devices within a phase. Set circuit.noise_within_phases to 0 s, "
        "and take a device.model without noise of its own: white noise of reads counts (device.read_noise)");
  }
  const std::string misfit = phase_misfit(config, "relaxation.solver", noisy);
  if (!misfit.empty()) throw UserError(fmt::format("relaxation.solver = {} ({})", to_string(solver), misfit));
}

}  // namespace nudge
