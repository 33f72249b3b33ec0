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

void price_converters(const ChipOptions& chip, const CircuitSpec& circuit, ChipPrices& out) {
  out.adc_rate_Hz = chip.adc_rate_Hz > 0 ? chip.adc_rate_Hz : chip.lines_per_adc / out.read_s;
  if (out.adc_bits > 0) {
    const double by_law = chip.adc_step_J > 0
                              ? walden_adc_energy_J(out.adc_bits, chip.adc_step_J)
                              : survey_adc_energy_J(out.adc_bits, out.adc_rate_Hz, chip.node_m).value_or(0);
    out.adc_J = circuit.adc_energy_J > 0 ? circuit.adc_energy_J : by_law;
    out.adc_m2 = chip.adc_um2 > 0
                     ? um2_in_m2 * chip.adc_um2
                     : survey_adc_area_m2(out.adc_bits, out.adc_rate_Hz, chip.node_m, out.adc_J).value_or(0);
  }
  const double density = fF_per_um2 * chip.capacitor_fF_per_um2;
  if (out.dac_bits > 0) {
    if (out.dac_J == 0 && chip.supply_V > 0) out.dac_J = dac_energy_J(out.dac_bits, chip.dac_unit_F, chip.supply_V);
    if (chip.dac_um2 > 0) {
      out.dac_m2 = um2_in_m2 * chip.dac_um2;
    } else if (density > 0) {
      out.dac_m2 = dac_area_m2(out.dac_bits, chip.dac_unit_F, density);
    }
  }
  if (density > 0) out.hold_m2 = circuit.hold_capacitance_F / density;
}

}  // namespace

ChipPrices chip_prices(const Config& config) {
  const CircuitSpec circuit = circuit_spec(config);
  const auto bits = [&config](const char* key) { return static_cast<int>(config.integer(key)); };
  ChipPrices out;
  out.adc_bits = std::max(bits("crossbar.forward_adc_bits"), bits("crossbar.transposed_adc_bits"));
  out.dac_bits = std::max(bits("crossbar.forward_dac_bits"), bits("crossbar.transposed_dac_bits"));
  out.adc_J = circuit.adc_energy_J;
  out.dac_J = circuit.dac_energy_J;
  out.line_F = circuit.line_capacitance_F;
  if (!has_chip(config)) return out;
  const ChipOptions chip = chip_section().read(config);
  const bool transistor = device_spec(config).selector.kind == SelectorKind::transistor;
  out.read_s = read_slot_s(config);
  out.cell_F2 = chip.cell_F2 > 0 ? chip.cell_F2 : transistor ? transistor_cell_F2 : bare_cell_F2;
  out.cell_m2 = out.cell_F2 * chip.node_m * chip.node_m;
  if (out.line_F == 0) out.line_F = line_capacitance_F(out.cell_F2, chip.node_m, fF_per_um * chip.wire_fF_per_um);
  price_converters(chip, circuit, out);
  return out;
}

CircuitSpec priced_circuit(const Config& config) {
  CircuitSpec circuit = circuit_spec(config);
  if (!has_chip(config)) return circuit;
  const ChipPrices prices = chip_prices(config);
  circuit.adc_energy_J = prices.adc_J;
  circuit.dac_energy_J = prices.dac_J;
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
  const double write = write_voltage_V(arrays);
  if (write <= chip.supply_V || chip.pump_efficiency > 0) return;
  throw UserError(fmt::format(
      "chip.supply = {0} (must be >= {1}, the largest write pulse of the device): {1} > {0}. Raise it, or set "
      "chip.pump_efficiency of a charge pump that makes the write voltage",
      volts(chip.supply_V), volts(write)));
}

void check_rate(const ChipPrices& prices, const ChipOptions& chip) {
  if (prices.adc_bits == 0) return;
  const double asked = chip.lines_per_adc / prices.read_s;
  const std::string reads =
      fmt::format("{:g} lines in a read of {}", chip.lines_per_adc, format_quantity(prices.read_s, Unit::second, 4));
  // A read of whole conversions may end with the last one: rounding of the quotient alone.
  constexpr double rounding = 1e-9;
  if (chip.adc_rate_Hz > 0 && chip.adc_rate_Hz < asked * (1 - rounding)) {
    throw UserError(fmt::format(
        "chip.adc_rate = {} (must be >= {}): {} ask for more conversions. Raise it or circuit.time_constant, or lower "
        "chip.lines_per_adc",
        hertz(chip.adc_rate_Hz), hertz(asked), reads));
  }
  const bool by_survey = prices.adc_J == 0 || prices.adc_m2 == 0;
  if (by_survey && prices.adc_rate_Hz > survey_fastest_Hz) {
    throw UserError(fmt::format(
        "chip.lines_per_adc = {:g}: {} ask for {} of conversions > {}, the fastest of the survey of converters. Lower "
        "it, or raise circuit.time_constant",
        chip.lines_per_adc, reads, hertz(prices.adc_rate_Hz), hertz(survey_fastest_Hz)));
  }
}

void check_pulses(const ChipPrices& prices, const ChipOptions& chip) {
  const double all_s = chip.input_pulses * chip.pulse_s;
  constexpr double rounding = 1e-9;
  if (all_s <= prices.read_s * (1 + rounding)) return;
  throw UserError(
      fmt::format("chip.pulse_width = {} (must be <= {}): its pulses (chip.input_pulses = {:g}) last longer than a "
                  "read of {}. Lower it, "
                  "or raise circuit.time_constant",
                  format_quantity(chip.pulse_s, Unit::second, 4),
                  format_quantity(prices.read_s / chip.input_pulses, Unit::second, 4), chip.input_pulses,
                  format_quantity(prices.read_s, Unit::second, 4)));
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
}

}  // namespace

void check_chip(const Config& config) {
  if (!has_chip(config)) return;
  const ChipOptions chip = chip_section().read(config);
  const CrossbarSpec arrays = crossbar_spec(config);
  const ChipPrices prices = chip_prices(config);
  check_supply(arrays, chip);
  check_rate(prices, chip);
  check_pulses(prices, chip);
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
  const auto lines = [](Index tile, Index array) { return tile > 0 ? tile : array; };
  const Index most = std::max(lines(tiles.rows, rows), lines(tiles.columns, columns));
  const double asked = chip_section().read(config).lines_per_adc;
  if (most == 0 || asked <= static_cast<double>(most) || config.at_default("chip.lines_per_adc")) return;
  throw UserError(fmt::format(
      "chip.lines_per_adc = {:g} (must be <= {}, the lines of the largest tile): an ADC converts lines of one tile",
      asked, most));
}

}  // namespace nudge
