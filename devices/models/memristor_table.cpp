// SPDX-License-Identifier: Apache-2.0
// A memristor given by tables, as `nudge devices import` makes them of a Verilog-A model:
//     dx/dt = rate(x, v),   i = current(x, v),   g = g_lower + x (g_upper - g_lower) at the read voltage
// Empty tables are linear drift, dx/dt = 1e6 v per second and i = g v.
#include <fmt/format.h>

#include "devices/memristor/memristor.hpp"
#include "devices/memristor/pulsed_memristor.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Memristor table of linear drift, which three voltages and two states describe.
TableMemristor drift(const DeviceSpec& spec) {
  constexpr double mobility = 1e6, end_V = 100;
  TableMemristor m;
  m.volts = {-end_V, 0, end_V};
  m.states = 2;
  for (const double v : m.volts) {
    for (const double g : {spec.g_min_S, spec.g_max_S}) {
      m.rate_Hz.push_back(mobility * v);
      m.current_A.push_back(g * v);
    }
  }
  return m;
}

TableMemristor table_memristor_of(const DeviceSpec& spec) {
  TableMemristor m;
  m.volts = spec.table("volts");
  if (m.volts.empty()) return drift(spec);
  m.rate_Hz = spec.table("rate");
  m.current_A = spec.table("current");
  m.states = m.rate_Hz.size() / m.volts.size();
  return m;
}

void check_memristor_table(const DeviceSpec& spec) {
  const std::vector<double> volts = spec.table("volts"), rate = spec.table("rate"), current = spec.table("current");
  if (volts.empty() && rate.empty() && current.empty()) return;
  const auto fail = [](const std::string& problem) {
    throw UserError("device.memristor_table." + problem + " (nudge devices import writes the tables)");
  };
  for (std::size_t k = 0; k + 1 < volts.size(); ++k) {
    if (!(volts[k] < volts[k + 1]))
      fail(fmt::format("volts: {:g} V before {:g} V, must ascend", volts[k], volts[k + 1]));
  }
  if (volts.size() < 2) fail("volts: needs at least two voltages");
  if (rate.size() != current.size() || rate.size() % volts.size() != 0 || rate.size() < 2 * volts.size()) {
    fail(fmt::format("rate has {} and current {} numbers: both need the same, two or more for each of {} voltages",
                     rate.size(), current.size(), volts.size()));
  }
  const double made_K = spec.shape_value("temperature");
  if (made_K > 0 && made_K != spec.temperature_K) {
    fail(fmt::format(
        "temperature = {0:g} K: the tables hold at this temperature, and circuit.temperature is {1:g} K. Import the "
        "model with --temperature \"{1:g} K\", or set the key to 0 to use the tables at any temperature",
        made_K, spec.temperature_K));
  }
  for (const char* pulse : {"pulse_up", "pulse_down"}) {
    const double v = spec.shape_value(pulse);
    if (v >= volts.front() && v <= volts.back()) continue;
    fail(fmt::format("{} = {:g} V: must lie within device.memristor_table.volts, {:g} to {:g} V", pulse, v,
                     volts.front(), volts.back()));
  }
}

/// Voltage that heats a conductance by V² G as the device in the middle of its window.
double heating_volts(const DeviceSpec& spec, const TableMemristor& m, double volts) {
  const double g = 0.5 * (spec.g_min_S + spec.g_max_S);
  return std::sqrt(std::max(volts * m.current(0.5, volts), 0.0) / g);
}

}  // namespace

DeviceModel memristor_table_model() {
  const std::string ours = "chosen: of the order of a fast filamentary device; replace by yours";
  DeviceModel model;
  model.name = "memristor_table";
  model.summary = "memristor given by tables of its speed and current over voltage and state (nudge devices import)";
  model.equation = "dx/dt = rate(x, v), i = current(x, v); g linear in x at the read voltage";
  model.source = "form: ours; the tables are yours";
  model.limits =
      "rectangular pulses within the voltages of the tables; one state; all devices see the same voltage (no line "
      "drop). device.pulses is the step that the controller assumes. Where it is not set, it is the step of these "
      "pulses in the middle of the window";
  model.not_modelled = "further states (a temperature that lags behind the pulse among them), stochastic switching";
  model.shape = {{"pulse_up", "V", 0, 100, true, false, 1, "amplitude of an up pulse", ours},
                 {"pulse_down", "V", -100, 0, false, true, -1, "amplitude of a down pulse", ours},
                 {"pulse_width", "s", 0, 1e6, true, false, 1e-8, "width of both pulses", ours},
                 {"temperature", "K", 0, 1e4, false, true, 0,
                  "temperature of the tables, which circuit.temperature has to be; 0: they hold at any", ours}};
  model.tables = {
      {"volts", "V", "voltages of the rows of both tables, ascending; empty: linear drift", "to be given: empty"},
      {"rate", "1", "dx/dt in 1/s, row by row: at each voltage from state 0 to state 1", "to be given: empty"},
      {"current", "1", "current in A, in the same order", "to be given: empty"}};
  model.memristor = [](const DeviceSpec& spec) -> std::shared_ptr<const Memristor> {
    return std::make_shared<TableMemristor>(table_memristor_of(spec));
  };
  model.make = make_pulsed_memristor;
  model.check = check_memristor_table;
  model.pulses = [](const DeviceSpec& spec) {
    const TableMemristor m = table_memristor_of(spec);
    const double width = spec.shape_value("pulse_width");
    return std::pair(WritePulse{heating_volts(spec, m, spec.shape_value("pulse_up")), width},
                     WritePulse{heating_volts(spec, m, spec.shape_value("pulse_down")), width});
  };
  return model;
}

}  // namespace nudge
