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

/// Cost card of one chip, put together part by part.
class Card {
 public:
  Card(const Config& config, const CardCounts& counts)
      : config_(config),
        counts_(counts),
        arrays_(crossbar_spec(config)),
        chip_(chip_section().read(config)),
        prices_(chip_prices(config)) {}

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

  void count() {
    const double tokens = counts_.product ? 1 : static_cast<double>(coupled_rows(config_));
    const double copies =
        counts_.product ? 1 : (arrays_.tokens.use == TokenUse::replicated ? tokens : 1) * arrays_per_matrix(arrays_);
    double weights = 0;
    for (const auto& [name, shape] : counts_.arrays) {
      tiles_ += tile_lines(shape.first, shape.second, arrays_.tiles, copies, chip_.lines_per_adc);
      weights += static_cast<double>(shape.first * shape.second);
    }
    card_.tiles = tiles_.tiles;
    if (counts_.arrays.empty()) {
      leave_out("everything that counts lines and weights: the file has no state of its arrays");
    }
    card_.operations = 2 * weights * tokens;
  }

  /// Energy of a part from its count and price; of a file without counts what its run had.
  Amount energy(const ReadCounts& reads, Reads count, double price, Reads at_run) const {
    if (reads.*count) return priced(reads.*count, price);
    return (reads.*at_run).value_or(0) > 0 ? reads.*at_run : std::nullopt;  // 0: its key had no price
  }

  void add_reads(const std::string& name, Reads count, double price, Reads at_run, const Amount& area,
                 const std::string& source) {
    card_.parts.push_back({name, energy(counts_.inference, count, price, at_run),
                           energy(counts_.step, count, price, at_run), area, source});
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
    const PeripherySpec& p = arrays_.periphery;
    const double amount =
        (p.forward.dac.converts() ? tiles_.row_lines : 0) + (p.transposed.dac.converts() ? tiles_.column_lines : 0);
    if (prices_.dac_bits == 0) {
      return leave_out("DACs: ideal ones are simulated (crossbar.forward_dac_bits, transposed_dac_bits)");
    }
    const char* from = circuit().dac_energy_J > 0 ? "circuit.dac_energy" : "chip.dac_unit_capacitance, chip.supply";
    if (prices_.dac_J == 0) {
      leave_out(described() ? "energy of the DACs (chip.supply, or circuit.dac_energy)"
                            : "energy of the DACs (circuit.dac_energy)");
    }
    add_reads("DACs", &ReadCounts::dac_conversions, prices_.dac_J, &ReadCounts::dac_J,
              area("DACs", prices_.dac_m2, amount, "chip.capacitor_density or chip.dac_area"),
              fmt::format("{} a conversion ({}), {} bits; {:g} of them, one for each driven line of a tile",
                          price_text(prices_.dac_J, Unit::joule), from, prices_.dac_bits, amount));
  }

  std::string adc_source(double amount) const {
    const char* from = circuit().adc_energy_J > 0 ? "circuit.adc_energy"
                       : !described()             ? "circuit.adc_energy"
                       : chip_.adc_step_J > 0     ? "chip.adc_step_energy"
                                                  : "survey of ADCs, arXiv:2404.06553";
    std::string out =
        fmt::format("{} a conversion ({}), {} bits", price_text(prices_.adc_J, Unit::joule), from, prices_.adc_bits);
    if (!described()) return out;
    return out + fmt::format(
                     "; {:g} of them, one for {:g} sensed lines of a tile (chip.lines_per_adc), at {} "
                     "({}); area: {}",
                     amount, chip_.lines_per_adc, format_quantity(prices_.adc_rate_Hz, Unit::hertz, 4),
                     chip_.adc_rate_Hz > 0 ? "chip.adc_rate" : "all of them in a read",
                     chip_.adc_um2 > 0 ? "chip.adc_area" : "the survey");
  }

  void adcs() {
    const PeripherySpec& p = arrays_.periphery;
    if (prices_.adc_bits == 0) {
      return leave_out("ADCs: ideal ones are simulated (crossbar.forward_adc_bits, transposed_adc_bits)");
    }
    const double amount = (p.forward.adc.converts() ? tiles_.forward_adcs : 0) +
                          (p.transposed.adc.converts() ? tiles_.transposed_adcs : 0);
    card_.adcs = described() ? amount : 0;
    card_.adc_rate_Hz = prices_.adc_rate_Hz;
    if (prices_.adc_J == 0) {
      leave_out(described() ? fmt::format("energy of the ADCs: the survey begins at {} bits (chip.adc_step_energy)",
                                          survey_least_bits)
                            : "energy of the ADCs (circuit.adc_energy)");
    }
    add_reads("ADCs", &ReadCounts::adc_conversions, prices_.adc_J, &ReadCounts::adc_J,
              area("ADCs", prices_.adc_m2, amount, "chip.adc_area"), adc_source(amount));
  }

  /// Adders of the numbers of tiles, behind the converters.
  void adders() {
    if (tiles_.most_terms < 2 || prices_.adc_bits == 0 || !described()) return;
    const PeripherySpec& p = arrays_.periphery;
    const double amount = (p.forward.adc.converts() ? tiles_.forward_adders : 0) +
                          (p.transposed.adc.converts() ? tiles_.transposed_adders : 0);
    const int bits = sum_bits(prices_.adc_bits, tiles_.most_terms);
    const double each_J = adder_energy_J(bits, chip_.node_m, chip_.supply_V);
    card_.parts.push_back({"adders of partial sums", priced(counts_.inference.partial_sums, each_J),
                           priced(counts_.step.partial_sums, each_J), amount * adder_area_m2(bits, chip_.node_m),
                           fmt::format("{} an addition of {} bits: Horowitz, ISSCC 2014, 45 nm, scaled as F V^2{}; "
                                       "{:g} of them",
                                       price_text(each_J, Unit::joule), bits,
                                       chip_.supply_V > 0 ? "" : " at its 0.9 V (chip.supply)", amount)});
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
    if (!described() || prices_.adc_bits == 0 || chip_.lines_per_adc <= 1) return;
    const double lines = (arrays_.periphery.forward.adc.converts() ? tiles_.column_lines : 0) +
                         (arrays_.periphery.transposed.adc.converts() ? tiles_.row_lines : 0);
    const double each_J = circuit().hold_capacitance_F * chip_.supply_V * chip_.supply_V;
    if (each_J == 0) leave_out("energy of the sample-and-holds (circuit.hold_capacitance, chip.supply)");
    card_.parts.push_back(
        {"sample-and-holds", priced(counts_.inference.adc_conversions, each_J),
         priced(counts_.step.adc_conversions, each_J),
         area("sample-and-holds", prices_.hold_m2, lines, "circuit.hold_capacitance, chip.capacitor_density"),
         fmt::format("at most {} a sample (circuit.hold_capacitance at chip.supply); one for each of {:g} sensed lines "
                     "that wait for an ADC",
                     price_text(each_J, Unit::joule), lines)});
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

  /// Gates of the selectors, which every pulse of a read opens: C (V_open − V_closed) V_open from the supply of V_open.
  void word_lines() {
    if (arrays_.device.selector.kind != SelectorKind::transistor) return;
    const double each_J = chip_.input_pulses * chip_.gate_F * (chip_.gate_V - chip_.gate_closed_V) * chip_.gate_V;
    if (each_J == 0) return leave_out("word lines: the gates of selectors (chip.gate_capacitance, gate_voltage)");
    if (!counts_.inference.cells) {
      return leave_out("word lines: this file has no count of the devices that were read (train/read_cells)");
    }
    card_.parts.push_back(
        {"word lines", priced(counts_.inference.cells, each_J), priced(counts_.step.cells, each_J), std::nullopt,
         fmt::format("{} a gate, from {} to {}, {:g} pulses a read (chip.gate_capacitance, ...)",
                     price_text(chip_.gate_F, Unit::farad), format_quantity(chip_.gate_closed_V, Unit::volt, 4),
                     format_quantity(chip_.gate_V, Unit::volt, 4), chip_.input_pulses)});
  }

  void writes() {
    const auto [up, down] = write_pulses(arrays_.device);
    const bool known = up.voltage_V * up.width_s > 0 || down.voltage_V * down.width_s > 0;
    const double write_V = write_voltage_V(arrays_);
    const bool pumped = chip_.supply_V > 0 && write_V > chip_.supply_V && chip_.pump_efficiency > 0;
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
    if (pumped) {
      source += fmt::format(", over {:g} of a charge pump from {} to {} (chip.pump_efficiency)", chip_.pump_efficiency,
                            format_quantity(chip_.supply_V, Unit::volt, 4), format_quantity(write_V, Unit::volt, 4));
    }
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
      if (!reads.dac_conversions || !reads.adc_conversions) return std::nullopt;
      return *reads.dac_conversions + *reads.adc_conversions;
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
    if (tiles_.most_terms > 1) {
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
  ChipPrices prices_;
  TileLines tiles_;
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
