// SPDX-License-Identifier: Apache-2.0
#include "training/card/cost_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "circuits/chip/part_laws.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "devices/device_config.hpp"
#include "devices/pulse_effects.hpp"
#include "sim/base/units.hpp"
#include "training/card/port_parts.hpp"
#include "training/config/chip_prices.hpp"
#include "training/config/train_options.hpp"
#include "training/learning/correlator.hpp"
#include "training/models/block/block_plan.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

using Amount = std::optional<double>;

constexpr double m2_per_um2 = 1e-12;
constexpr double days_per_year = 365.25;

/// Text of a price, as the config would have it.
std::string price_text(double price, Unit unit) { return price > 0 ? format_quantity(price, unit, 4) : "unknown"; }

Amount priced(const Amount& count, double price) { return count && price > 0 ? Amount(*count * price) : std::nullopt; }
Amount priced(const PortCounts& counts, const PerPort<double>& each_J) { return priced_ports(counts, each_J); }

bool is_known(const Amount& count) { return count.has_value(); }
bool is_known(const PortCounts& counts) { return counts.all.has_value(); }

/// Cost card of one chip, put together part by part.
class Card {
 public:
  Card(const Config& config, const CardCounts& counts)
      : config_(config),
        counts_(counts),
        arrays_(crossbar_spec(config)),
        chip_(chip_section().read(config)),
        tiles_(all_tiles()),
        prices_(chip_prices(config, tiles_.most_lines)) {}

  CostCard all() {
    card_.product = counts_.product;
    card_.node_m = chip_.node_m;
    card_.read_s = prices_.read_s;
    if (!described()) leave_out("areas and laws of parts: no chip is described (chip.node)");
    count();
    arrays();
    dacs();
    adcs();
    adders();
    amplifiers();
    holds();
    drivers();
    word_lines();
    if (!counts_.product) writes();
    if (!counts_.product) verifies();
    around();
    if (!counts_.product) digital();
    latency();
    if (!counts_.product) endurance();
    not_modelled();
    return std::move(card_);
  }

 private:
  using Reads = Amount ReadCounts::*;

  bool described() const { return chip_.described(); }
  const CircuitSpec& circuit() const { return arrays_.circuit; }
  void leave_out(const std::string& what) { card_.left_out.push_back(what); }

  double tokens() const { return counts_.product ? 1 : static_cast<double>(coupled_rows(config_)); }

  TileLines all_tiles() const {
    const double copies =
        counts_.product ? 1 : (arrays_.tokens.use == TokenUse::replicated ? tokens() : 1) * arrays_per_matrix(arrays_);
    TileLines all;
    for (const auto& [name, shape] : counts_.arrays) {
      all += tile_lines(shape.first, shape.second, arrays_.tiles, copies, chip_.lines_per_adc);
    }
    return all;
  }

  void count() {
    double weights = 0;
    for (const auto& [name, shape] : counts_.arrays) weights += static_cast<double>(shape.first * shape.second);
    card_.tiles = tiles_.tiles;
    if (counts_.arrays.empty()) {
      leave_out("everything that counts lines and weights: the file has no state of its arrays");
    }
    card_.operations = 2 * weights * tokens();
  }

  /// Adds a part of reads by its count and price; of a file without counts what its run had.
  template <class Count, class Price>
  void add_reads(const std::string& name, Count ReadCounts::*count, const Price& price, Reads at_run,
                 const Amount& area, const std::string& source) {
    const auto energy = [&](const ReadCounts& reads) -> Amount {
      if (is_known(reads.*count)) return priced(reads.*count, price);
      return (reads.*at_run).value_or(0) > 0 ? reads.*at_run : std::nullopt;  // 0: its key had no price
    };
    card_.parts.push_back({name, energy(counts_.inference), energy(counts_.step), area, source});
  }

  /// Area of the converters of both ports; each price is known, or none.
  Amount port_area(const std::string& what, const PerPort<ConverterPrice>& price, const PerPort<double>& amount,
                   const std::string& key) {
    const double all_m2 = price.forward.each_m2 * amount.forward + price.transposed.each_m2 * amount.transposed;
    const std::string named = fmt::format("{:g} {}", amount.total(), what);
    return area(named, all_m2, 1, key);
  }

  Amount area(const std::string& what, double each_m2, double amount, const std::string& key) {
    if (each_m2 > 0) return each_m2 * amount;
    if (described())
      leave_out(fmt::format("area of {}{} ({})", amount == 1 ? "" : fmt::format("{:g} ", amount), what, key));
    return std::nullopt;
  }

  void arrays() {
    const Amount size = described() ? Amount(counts_.devices * prices_.cell_m2) : std::nullopt;
    const std::string cells = described() ? fmt::format(
                                                "; {:.0f} devices of {:g} F^2 (chip.cell_area), F = {:g} nm "
                                                "(chip.node); number of tiles (crossbar.tile_rows): {:g}",
                                                counts_.devices, prices_.cell_F2, 1e9 * chip_.node_m, tiles_.tiles)
                                          : "";
    const double share =
        chip_.pulse_s > 0 && prices_.read_s > 0 ? chip_.input_pulses * chip_.pulse_s / prices_.read_s : 1;
    const std::string pulses = share == 1 ? ""
                                          : fmt::format(", {:g} pulses of {} in each (chip.input_pulses, pulse_width)",
                                                        chip_.input_pulses, price_text(chip_.pulse_s, Unit::second));
    card_.parts.push_back({"arrays", priced(counts_.inference.array_J, share), priced(counts_.step.array_J, share),
                           size, "heat of all reads" + pulses + cells});
  }

  void dacs() {
    if (prices_.dac.forward.bits == 0 && prices_.dac.transposed.bits == 0) {
      return leave_out("DACs: ideal ones are simulated (crossbar.forward_dac_bits, transposed_dac_bits)");
    }
    const PerPort<double> amount = converting(prices_.dac, {tiles_.row_lines, tiles_.column_lines});
    const PerPort<double> each_J = energies(prices_.dac);
    if (each_J.total() == 0) {
      leave_out(described() ? "energy of the DACs (chip.supply, or circuit.dac_energy)"
                            : "energy of the DACs (circuit.dac_energy)");
    }
    add_reads("DACs", &ReadCounts::dac_conversions, each_J, &ReadCounts::dac_J,
              port_area("DACs", prices_.dac, amount, "chip.capacitor_density or chip.dac_area"),
              dac_source(prices_, amount, circuit()) + no_ports_note(counts_.step.dac_conversions, each_J));
  }

  void adcs() {
    if (!converts()) {
      return leave_out("ADCs: ideal ones are simulated (crossbar.forward_adc_bits, transposed_adc_bits)");
    }
    const PerPort<double> amount = converting(prices_.adc, tiles_.adcs), each_J = energies(prices_.adc);
    card_.adcs = described() ? amount.total() : 0;
    card_.adc_rate_Hz = std::max(prices_.adc.forward.rate_Hz, prices_.adc.transposed.rate_Hz);
    if (each_J.total() == 0) leave_out("energy of the ADCs (circuit.adc_energy)");
    add_reads("ADCs", &ReadCounts::adc_conversions, each_J, &ReadCounts::adc_J,
              port_area("ADCs", prices_.adc, amount, "chip.adc_area"),
              adc_source(prices_, amount, chip_, circuit()) + no_ports_note(counts_.step.adc_conversions, each_J));
  }

  bool converts() const { return prices_.adc.forward.bits > 0 || prices_.adc.transposed.bits > 0; }

  void adders() {
    if (!converts() || !described()) return;
    if (auto part = adder_part(prices_, tiles_, chip_, counts_)) card_.parts.push_back(std::move(*part));
  }

  void amplifiers() {
    const double price = circuit().amplifier_power_W, lines = tiles_.row_lines + tiles_.column_lines;
    if (price == 0) leave_out("energy of the amplifiers (circuit.amplifier_power)");
    add_reads(
        "amplifiers", &ReadCounts::amplifier_s, price, &ReadCounts::amplifier_J,
        area("amplifiers", m2_per_um2 * chip_.amplifier_um2, lines, "chip.amplifier_area"),
        fmt::format("circuit.amplifier_power = {}; one for each of {:g} sensed lines of tiles; of the amplifier's "
                    "own node",
                    price_text(price, Unit::watt), lines));
  }

  /// Samples that wait for their turn at a converter: C V² from the supply for each, an upper bound.
  void holds() {
    const PerPort<double> waits = {prices_.adc.forward.lines > 1 ? 1.0 : 0.0,
                                   prices_.adc.transposed.lines > 1 ? 1.0 : 0.0};
    if (!described() || waits.total() == 0) return;
    const double lines = waits.forward * tiles_.column_lines + waits.transposed * tiles_.row_lines;
    const double one_J = circuit().hold_capacitance_F * chip_.supply_V * chip_.supply_V;
    const PerPort<double> each_J = {one_J * waits.forward, one_J * waits.transposed};
    if (one_J == 0) leave_out("energy of the sample-and-holds (circuit.hold_capacitance, chip.supply)");
    card_.parts.push_back(
        {"sample-and-holds", priced(counts_.inference.adc_conversions, each_J),
         priced(counts_.step.adc_conversions, each_J),
         area("sample-and-holds", prices_.hold_m2, lines, "circuit.hold_capacitance, chip.capacitor_density"),
         fmt::format("at most {} a sample (circuit.hold_capacitance at chip.supply); one for each of {:g} sensed lines "
                     "that wait for an ADC",
                     price_text(one_J, Unit::joule), lines)});
  }

  void drivers() {
    const double lines = tiles_.row_lines + tiles_.column_lines;
    if (prices_.line_F == 0) leave_out("energy of the drivers (circuit.line_capacitance)");
    const bool own = circuit().line_capacitance_F > 0 || !described();
    const double pulses = described() ? chip_.input_pulses : 1;
    add_reads("drivers", &ReadCounts::driven_V2, pulses * prices_.line_F, &ReadCounts::driver_J,
              area("drivers", m2_per_um2 * chip_.driver_um2, lines, "chip.driver_area"),
              fmt::format("C V^2 of the lines, {} a cell ({}){}; one for each of {:g} driven lines of tiles",
                          price_text(prices_.line_F, Unit::farad),
                          own ? "circuit.line_capacitance" : "chip.wire_capacitance, pitch of the cells",
                          pulses > 1 ? fmt::format(", {:g} pulses a read (chip.input_pulses)", pulses) : "", lines));
  }

  /// Whether a charge pump makes a voltage, by whose efficiency its energy is divided.
  bool is_pumped(double needed_V) const {
    return chip_.supply_V > 0 && needed_V > chip_.supply_V && chip_.pump_efficiency > 0;
  }
  std::string pump_text(double needed_V) const {
    return fmt::format(", over {:g} of a charge pump from {} to {} (chip.pump_efficiency)", chip_.pump_efficiency,
                       format_quantity(chip_.supply_V, Unit::volt, 4), format_quantity(needed_V, Unit::volt, 4));
  }

  /// Gates of the selectors, which every pulse of a read opens: C (V_open − V_closed) V_open from the supply of V_open.
  void word_lines() {
    if (arrays_.device.selector.kind != SelectorKind::transistor) return;
    const bool pumped = chip_.gate_supply_V == 0 && is_pumped(chip_.gate_V);
    const double each_J = chip_.input_pulses * chip_.gate_F * (chip_.gate_V - chip_.gate_closed_V) * chip_.gate_V /
                          (pumped ? chip_.pump_efficiency : 1);
    if (each_J == 0) return leave_out("word lines: the gates of selectors (chip.gate_capacitance, gate_voltage)");
    if (!counts_.inference.cells) {
      return leave_out("word lines: this file has no count of the devices that were read (train/read_cells)");
    }
    card_.parts.push_back(
        {"word lines", priced(counts_.inference.cells, each_J), priced(counts_.step.cells, each_J), std::nullopt,
         fmt::format("{} a gate, from {} to {}, {:g} pulses a read (chip.gate_capacitance, ...)",
                     price_text(chip_.gate_F, Unit::farad), format_quantity(chip_.gate_closed_V, Unit::volt, 4),
                     format_quantity(chip_.gate_V, Unit::volt, 4), chip_.input_pulses) +
             (pumped ? pump_text(chip_.gate_V) : "")});
  }

  void writes() {
    const auto [up, down] = write_pulses(arrays_.device);
    const bool known = up.voltage_V * up.width_s > 0 || down.voltage_V * down.width_s > 0;
    const double write_V = write_voltage_V(arrays_);
    const bool pumped = is_pumped(write_V);
    if (!known) {
      leave_out("writes: the energy of a pulse is not known. Set device.pulse_voltage_up, pulse_width_up, ...");
    }
    Amount heat = known ? counts_.writes_J : std::nullopt;
    if (heat && pumped) *heat /= chip_.pump_efficiency;
    std::string source = known ? fmt::format(
                                     "heat of the pulses: up {:g} V, {:g} s, down {:g} V, {:g} s (from "
                                     "device.pulse_* or the model)",
                                     up.voltage_V, up.width_s, down.voltage_V, down.width_s)
                               : "pulses not known";
    if (pumped) source += pump_text(write_V);
    card_.parts.push_back({"writes", std::nullopt, heat, std::nullopt, source});
    if (known && counts_.pulses_s && counts_.verify_reads) {
      card_.writes_s =
          *counts_.pulses_s + *counts_.verify_reads * arrays_.programming.read_time * circuit().time_constant_s;
    }
  }

  void verifies() {
    if (counts_.verify_J.value_or(0) > 0) {
      card_.parts.push_back({"verify reads", std::nullopt, counts_.verify_J, std::nullopt,
                             "crossbar.verify_time, at the mean conductance"});
    }
    if (counts_.transfers_J.value_or(0) > 0) {
      card_.parts.push_back({"transfers", std::nullopt, counts_.transfers_J, std::nullopt, "crossbar.update"});
    }
  }

  /// Time of a training step: its phases, and its pulses one by one.
  Amount step_s() const {
    if (!counts_.example_s) return std::nullopt;
    return *counts_.example_s * static_cast<double>(train_options(config_).batch) + card_.writes_s.value_or(0);
  }

  /// Adds what stands around the arrays: decoders, buffers, control and leakage, each by its key.
  void around() {
    if (!described()) return leave_out("decoders, multiplexers, buffers, control, clocks and leakage ([chip])");
    const double lines = tiles_.row_lines + tiles_.column_lines;
    if (const Amount size =
            area("decoders and multiplexers", m2_per_um2 * chip_.decoder_um2, lines, "chip.decoder_area")) {
      card_.parts.push_back({"decoders", std::nullopt, std::nullopt, size,
                             fmt::format("chip.decoder_area for each of {:g} lines of tiles; no energy", lines)});
    }
    const auto numbers = [](const ReadCounts& reads) -> Amount {
      if (!reads.dac_conversions.all || !reads.adc_conversions.all) return std::nullopt;
      return *reads.dac_conversions.all + *reads.adc_conversions.all;
    };
    if (chip_.buffer_J == 0) {
      leave_out("energy of the buffers (chip.buffer_energy)");
    } else {
      card_.parts.push_back({"buffers", priced(numbers(counts_.inference), chip_.buffer_J),
                             priced(numbers(counts_.step), chip_.buffer_J), std::nullopt,
                             "chip.buffer_energy for each conversion"});
    }
    const auto running = [&](const std::string& name, double power, const Amount& size, const std::string& key) {
      if (power == 0) leave_out(fmt::format("power of {} ({})", name, key));
      if (power == 0 && !size) return;
      card_.parts.push_back({name, priced(counts_.inference_s, power), priced(step_s(), power), size,
                             key + " times the time" + (size ? "; chip.control_area" : "")});
    };
    running("control", chip_.control_W,
            area("control, buffers and digital work", m2_per_um2 * chip_.control_um2, 1, "chip.control_area"),
            "chip.control_power");
    running("leakage", chip_.leakage_W, std::nullopt, "chip.leakage_power");
  }

  void digital() {
    const double price = circuit().digital_energy_J;
    if (price == 0) leave_out("digital work (circuit.digital_energy)");
    add_reads("digital", &ReadCounts::operations, price, &ReadCounts::digital_J, std::nullopt,
              fmt::format("circuit.digital_energy = {}", price_text(price, Unit::joule)));
  }

  void latency() {
    card_.inference_s = counts_.inference_s;
    if (counts_.example_s) {
      card_.phases_s = *counts_.example_s * static_cast<double>(train_options(config_).batch);
    }
    if (!card_.inference_s) leave_out("inference: the version that wrote the file did not log it");
  }

  void endurance() {
    card_.endurance = arrays_.device.endurance;
    card_.most_pulses = counts_.most_pulses;
    card_.mean_pulses = counts_.mean_pulses;
    card_.steps_per_day = chip_.steps_per_day;
    if (card_.endurance == 0) return leave_out("endurance spent (device.endurance)");
    if (chip_.steps_per_day == 0) return leave_out("years of endurance (chip.steps_per_day)");
    const double a_year = chip_.steps_per_day * days_per_year / counts_.steps;  // runs like this one
    const auto years = [&](const Amount& pulses) -> Amount {
      return pulses.value_or(0) > 0 ? Amount(card_.endurance / (*pulses * a_year)) : std::nullopt;
    };
    card_.mean_years = years(card_.mean_pulses);
    card_.least_years = years(card_.most_pulses);
  }

  void not_modelled() {
    if (correlator_section().read(config_).on())
      leave_out("the multiplier and the capacitor of every weight (correlator.*)");
    if (const AttentionErrors attention = attention_section().read(config_); attention.analog)
      leave_out("the multipliers and exponentials of attention (attention.*)");
    if (arrays_.circuit.phase_adc.converts()) leave_out("converters of the held states (circuit.phase_adc_bits)");
    if (arrays_.wires.ideal()) leave_out("resistance of lines: ideal ones are simulated (crossbar.row_resistance)");
    if (std::max(tiles_.most_terms.forward, tiles_.most_terms.transposed) > 1) {
      leave_out(
          "rounding, noise and offsets of each tile by itself: a read simulates one amplifier and converter for "
          "the sum of its tiles");
    }
    if (arrays_.device.selector.any()) leave_out("areas of word lines and their drivers");
    card_.left_out.emplace_back("wires between arrays");
  }

  const Config& config_;
  const CardCounts& counts_;
  CrossbarSpec arrays_;
  ChipOptions chip_;
  TileLines tiles_;
  ChipPrices prices_;
  CostCard card_;
};

double sum_of(const std::vector<CostPart>& parts, std::optional<double> CostPart::*field) {
  double sum = 0;
  for (const CostPart& part : parts) sum += (part.*field).value_or(0);
  return sum;
}

}  // namespace

double CostCard::inference_J() const { return sum_of(parts, &CostPart::inference_J); }
double CostCard::step_J() const { return sum_of(parts, &CostPart::step_J); }
double CostCard::area_m2() const { return sum_of(parts, &CostPart::area_m2); }
double CostCard::tops_per_watt() const { return inference_J() > 0 ? 1e-12 * operations / inference_J() : std::nan(""); }

CostCard cost_card(const Config& config, const CardCounts& counts) { return Card(config, counts).all(); }

}  // namespace nudge
