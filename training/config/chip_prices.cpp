// SPDX-License-Identifier: Apache-2.0
#include "training/config/chip_prices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "circuits/chip/part_laws.hpp"
#include "devices/device_config.hpp"
#include "devices/pulse_effects.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "training/config/assembly.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

constexpr double um2_in_m2 = 1e-12, fF_per_um2 = 1e-3, fF_per_um = 1e-9;
// Areas of a cross point of lines of a pitch of 2F, and of 1T1R: defaults of DNN+NeuroSim.
constexpr double bare_cell_F2 = 4, transistor_cell_F2 = 48;

std::string volts(double V) { return format_quantity(V, Unit::volt, 4); }
std::string hertz(double Hz) { return format_quantity(Hz, Unit::hertz, 4); }

/// True if circuits of arrays exist whose chip is described.
bool has_chip(const Config& config) {
  return network_kind(config).is_circuit() && on_devices(config) && chip_section().read(config).described();
}

/// Price of an ADC of so many bits whose largest tile has so many lines. Fewer bits than the survey has need no more than its fewest do.
ConverterPrice adc_price(const ChipOptions& chip, double key_J, int bits, Index lines, double read_s) {
  ConverterPrice out{bits};
  if (bits == 0) return out;
  out.each_J = key_J;
  if (!chip.described()) return out;
  out.lines = lines > 0 ? std::min(chip.lines_per_adc, static_cast<double>(lines)) : chip.lines_per_adc;
  out.rate_Hz = chip.adc_rate_Hz > 0 ? chip.adc_rate_Hz : out.lines / read_s;
  const int priced_bits = std::max(bits, survey_least_bits);
  if (out.each_J == 0) {
    out.each_J = chip.adc_step_J > 0 ? walden_adc_energy_J(bits, chip.adc_step_J)
                                     : survey_adc_energy_J(priced_bits, out.rate_Hz, chip.node_m).value_or(0);
  }
  out.each_m2 = chip.adc_um2 > 0 ? um2_in_m2 * chip.adc_um2
                                 : survey_adc_area_m2(priced_bits, out.rate_Hz, chip.node_m, out.each_J).value_or(0);
  return out;
}

ConverterPrice dac_price(const ChipOptions& chip, double key_J, int bits) {
  ConverterPrice out{bits};
  if (bits == 0) return out;
  out.each_J = key_J;
  if (!chip.described()) return out;
  if (out.each_J == 0 && chip.supply_V > 0) out.each_J = dac_energy_J(bits, chip.dac_unit_F, chip.supply_V);
  const double density = fF_per_um2 * chip.capacitor_fF_per_um2;
  if (chip.dac_um2 > 0) {
    out.each_m2 = um2_in_m2 * chip.dac_um2;
  } else if (density > 0) {
    out.each_m2 = dac_area_m2(bits, chip.dac_unit_F, density);
  }
  return out;
}

}  // namespace

ChipPrices chip_prices(const Config& config, const PerPort<Index>& lines) {
  const CircuitSpec circuit = circuit_spec(config);
  const ChipOptions chip = has_chip(config) ? chip_section().read(config) : ChipOptions{};
  ChipPrices out;
  if (chip.described()) out.read_s = read_slot_s(config);
  for (const auto& [way, port] : {std::pair{ReadDirection::forward, std::string("crossbar.forward_")},
                                  std::pair{ReadDirection::transposed, std::string("crossbar.transposed_")}}) {
    const auto bits = [&](const char* key) { return static_cast<int>(config.integer(port + key)); };
    out.adc.at(way) = adc_price(chip, circuit.adc_energy_J.at(way), bits("adc_bits"), lines.at(way), out.read_s);
    out.dac.at(way) = dac_price(chip, circuit.dac_energy_J.at(way), bits("dac_bits"));
  }
  out.line_F = circuit.line_capacitance_F;
  if (!chip.described()) return out;
  const bool transistor = device_spec(config).selector.kind == SelectorKind::transistor;
  out.cell_F2 = chip.cell_F2 > 0 ? chip.cell_F2 : transistor ? transistor_cell_F2 : bare_cell_F2;
  out.cell_m2 = out.cell_F2 * chip.node_m * chip.node_m;
  if (out.line_F == 0) out.line_F = line_capacitance_F(out.cell_F2, chip.node_m, fF_per_um * chip.wire_fF_per_um);
  if (chip.capacitor_fF_per_um2 > 0)
    out.hold_m2 = circuit.hold_capacitance_F / (fF_per_um2 * chip.capacitor_fF_per_um2);
  return out;
}

PerPort<Index> sensed_lines(const Config& config, const NetworkPlan& plan) {
  const TileSpec tiles = crossbar_section().read(config).tiles;
  PerPort<Index> most = {};
  for (const Parameter& one : plan.parameters()) {
    if (!one.on_devices) continue;
    const PerPort<Index> own = sensed_lines(one.shape.rows, one.shape.cols, tiles);
    most = {std::max(most.forward, own.forward), std::max(most.transposed, own.transposed)};
  }
  return most;
}

CircuitSpec priced_circuit(const Config& config, const NetworkPlan& plan) {
  CircuitSpec circuit = circuit_spec(config);
  if (!has_chip(config)) return circuit;
  const ChipPrices prices = chip_prices(config, sensed_lines(config, plan));
  circuit.adc_energy_J = {prices.adc.forward.each_J, prices.adc.transposed.each_J};
  circuit.dac_energy_J = {prices.dac.forward.each_J, prices.dac.transposed.each_J};
  circuit.line_capacitance_F = prices.line_F;
  return circuit;
}

double write_voltage_V(const CrossbarSpec& arrays) {
  const auto [up, down] = write_pulses(arrays.device);
  const double steps = std::max(0, arrays.programming.steps - 1) * arrays.programming.step_V;
  const double largest = std::max(std::abs(up.voltage_V), std::abs(down.voltage_V));
  return largest > 0 ? largest + steps : 0;
}

namespace {

/// Voltages above the supply come from a charge pump, or the word lines have a supply of their own.
void expect_source(const std::string& what, double needed_V, const ChipOptions& chip) {
  if (chip.supply_V == 0 || needed_V <= chip.supply_V || chip.pump_efficiency > 0) return;
  const bool gates = what == "chip.gate_voltage";
  throw UserError(fmt::format(
      "chip.supply = {0} (must be >= {1}, {2}): {1} > {0}. Raise it, or set chip.pump_efficiency of a charge pump that "
      "makes this voltage{3}",
      volts(chip.supply_V), volts(needed_V), what,
      gates ? ", or chip.gate_supply of word lines with a supply of their own" : ""));
}

void check_supply(const CrossbarSpec& arrays, const ChipOptions& chip) {
  if (chip.supply_V == 0) return;
  const double read = arrays.circuit.read_voltage_V;
  if (read > chip.supply_V) {
    throw UserError(fmt::format(
        "circuit.read_voltage = {0} (must be <= chip.supply = {1}): no driver gives {0} from {1}. Lower it, or raise "
        "chip.supply",
        volts(read), volts(chip.supply_V)));
  }
  for (const auto& [key, port] : {std::pair{"crossbar.forward_saturation", &arrays.periphery.forward},
                                  std::pair{"crossbar.transposed_saturation", &arrays.periphery.transposed}}) {
    const double top = port->amplifier.saturation * read;
    if (top <= chip.supply_V) continue;
    throw UserError(fmt::format(
        "{} = {:g} (must be <= chip.supply / circuit.read_voltage = {:.4g}): outputs of {} need more than {}. Lower "
        "it, or raise chip.supply",
        key, port->amplifier.saturation, chip.supply_V / read, volts(top), volts(chip.supply_V)));
  }
  expect_source("the largest write pulse of the device", write_voltage_V(arrays), chip);
}

/// A cell takes its largest current from the largest pulse at its highest conductance.
void check_compliance(const CrossbarSpec& arrays, const ChipOptions& chip) {
  const double pulse_V = write_voltage_V(arrays);
  if (chip.write_A == 0) return;
  if (pulse_V == 0) {
    throw UserError(
        "chip.write_current: the voltage of a write pulse is not known. Set device.pulse_voltage_up and "
        "pulse_voltage_down, or leave the key out");
  }
  const DeviceSpec& device = arrays.device;
  const double cell_A = device.selector.cell_current(device.g_max_S, pulse_V);
  if (cell_A <= chip.write_A) return;
  throw UserError(fmt::format(
      "chip.write_current = {} (must be >= {}): a cell of device.g_max = {} takes {} from a write pulse of {}. Raise "
      "it, or "
      "lower the pulse or device.g_max",
      format_quantity(chip.write_A, Unit::ampere, 4), format_quantity(cell_A, Unit::ampere, 4),
      format_quantity(device.g_max_S, Unit::siemens, 4), format_quantity(cell_A, Unit::ampere, 4), volts(pulse_V)));
}

void check_gates(const DeviceSpec& device, const ChipOptions& chip) {
  if (chip.gate_F > 0 && device.selector.kind != SelectorKind::transistor) {
    throw UserError(
        "chip.gate_capacitance: the cells have no gates. Set device.selector = transistor, or leave the key out");
  }
  if (chip.gate_V > 0 && chip.gate_closed_V >= chip.gate_V) {
    throw UserError(
        fmt::format("chip.gate_closed_voltage = {} (must be < chip.gate_voltage = {}): the word line never "
                    "opens. Lower it",
                    volts(chip.gate_closed_V), volts(chip.gate_V)));
  }
  if (chip.gate_supply_V == 0) return expect_source("chip.gate_voltage", chip.gate_V, chip);
  if (chip.gate_V > chip.gate_supply_V) {
    throw UserError(fmt::format(
        "chip.gate_voltage = {0} (must be <= chip.gate_supply = {1}): no driver of a word line gives {0} from {1}. "
        "Lower it, or raise chip.gate_supply",
        volts(chip.gate_V), volts(chip.gate_supply_V)));
  }
}

void check_rate(const ConverterPrice& adc, const char* port, double read_s, const Config& config) {
  if (adc.bits == 0) return;
  const ChipOptions chip = chip_section().read(config);
  const double asked = adc.lines / read_s;
  const std::string reads =
      fmt::format("{:g} lines in a {} read of {}", adc.lines, port, format_quantity(read_s, Unit::second, 4));
  // A read of whole conversions may end with the last one: rounding of the quotient alone.
  constexpr double rounding = 1e-9;
  if (chip.adc_rate_Hz > 0 && chip.adc_rate_Hz < asked * (1 - rounding)) {
    throw UserError(fmt::format(
        "chip.adc_rate = {} (must be >= {}): {} ask for more conversions. Raise it or circuit.time_constant, or lower "
        "chip.lines_per_adc",
        hertz(chip.adc_rate_Hz), hertz(asked), reads));
  }
  const bool by_survey = (circuit_spec(config).adc_energy_J.forward == 0 && chip.adc_step_J == 0) || chip.adc_um2 == 0;
  if (by_survey && adc.rate_Hz > survey_fastest_Hz) {
    throw UserError(fmt::format(
        "chip.lines_per_adc = {:g}: {} ask for {} of conversions > {}, the fastest of the survey of converters. Lower "
        "it, or raise circuit.time_constant",
        chip.lines_per_adc, reads, hertz(adc.rate_Hz), hertz(survey_fastest_Hz)));
  }
}

void check_pulses(double read_s, const ChipOptions& chip) {
  const double all_s = chip.input_pulses * chip.pulse_s;
  constexpr double rounding = 1e-9;
  if (all_s <= read_s * (1 + rounding)) return;
  throw UserError(fmt::format(
      "chip.pulse_width = {} (must be <= {}): its pulses (chip.input_pulses = {:g}) last longer than a "
      "read of {}. Lower it, or raise circuit.time_constant",
      format_quantity(chip.pulse_s, Unit::second, 4), format_quantity(read_s / chip.input_pulses, Unit::second, 4),
      chip.input_pulses, format_quantity(read_s, Unit::second, 4)));
}

}  // namespace

void check_chip(const Config& config) {
  if (!has_chip(config)) return;
  const ChipOptions chip = chip_section().read(config);
  const CrossbarSpec arrays = crossbar_spec(config);
  check_supply(arrays, chip);
  check_compliance(arrays, chip);
  check_pulses(read_slot_s(config), chip);
  check_gates(arrays.device, chip);
}

void check_chip_tiles(const Config& config, const NetworkPlan& plan) {
  if (!has_chip(config)) return;
  const TileSpec tiles = crossbar_section().read(config).tiles;
  Index rows = 0, columns = 0;
  for (const Parameter& one : plan.parameters()) {
    if (!one.on_devices) continue;
    rows = std::max(rows, one.shape.rows);
    columns = std::max(columns, one.shape.cols);
  }
  const auto check = [](const char* key, Index tile, Index array, const char* lines) {
    if (tile <= array || array == 0) return;
    throw UserError(
        fmt::format("{} = {} (must be <= {}, the {} of the largest array): the tile is larger than any array. Lower "
                    "it, or set 0 for arrays that are not cut",
                    key, tile, array, lines));
  };
  check("crossbar.tile_rows", tiles.rows, rows, "rows");
  check("crossbar.tile_columns", tiles.columns, columns, "columns");
  const PerPort<Index> lines = sensed_lines(config, plan);
  const Index most = std::max(lines.forward, lines.transposed);
  const double asked = chip_section().read(config).lines_per_adc;
  if (most == 0) return;
  if (asked > static_cast<double>(most) && !config.at_default("chip.lines_per_adc")) {
    throw UserError(fmt::format(
        "chip.lines_per_adc = {:g} (must be <= {}, the lines of the largest tile): an ADC converts lines of one tile",
        asked, most));
  }
  const ChipPrices prices = chip_prices(config, lines);
  check_rate(prices.adc.forward, "forward", prices.read_s, config);
  check_rate(prices.adc.transposed, "transposed", prices.read_s, config);
}

}  // namespace nudge
