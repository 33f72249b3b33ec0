// SPDX-License-Identifier: Apache-2.0
#include "apps/info/cost_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "devices/device_config.hpp"
#include "devices/pulse_effects.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/units.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/config/config_table.hpp"
#include "training/config/cost_options.hpp"
#include "training/config/stored_config.hpp"
#include "training/config/train_options.hpp"
#include "training/learning/correlator.hpp"
#include "training/models/block/block_plan.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

constexpr double m2_per_um2 = 1e-12;

/// Text of a price, as the config would have it.
std::string price_text(double price, Unit unit) { return price > 0 ? format_quantity(price, unit) : "unknown"; }

/// Finds the lane of a run's own network with arrays.
const report::Lane& own_lane(const report::RunFile& run) {
  for (const report::Lane& lane : run.trainees) {
    if (lane.lane.empty() && !lane.arrays.empty()) return lane;
  }
  throw UserError(
      fmt::format("{}: its weights are digital, so there is no circuit to cost. Train it with --set "
                  "device.preset=NAME",
                  run.name));
}

/// Median over the accepted steps; nothing where the file has no such series.
std::optional<double> median_of(const report::Lane& lane, const std::string& name) {
  const report::TimeSeries& series = lane.of(name);
  const auto flagged = [&](const char* flag, std::size_t i) {
    const report::TimeSeries& flags = lane.of(flag);
    return i < flags.y.size() && flags.y[i] > 0;
  };
  std::vector<double> values;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (std::isfinite(series.y[i]) && !flagged("skipped", i) && !flagged("nonfinite", i)) values.push_back(series.y[i]);
  }
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

/// Reads the last values of the readings of all arrays, of both that a matrix may have ("fast_", "slow_").
class Readings {
 public:
  explicit Readings(const report::Lane& lane) : lane_(&lane) {}

  std::optional<double> sum(const std::string& name) const {
    std::optional<double> total;
    each(name, [&](double value, const std::string&) { total = total.value_or(0) + value; });
    return total;
  }
  std::optional<double> largest(const std::string& name) const {
    std::optional<double> most;
    each(name, [&](double value, const std::string&) { most = std::max(most.value_or(value), value); });
    return most;
  }

 private:
  template <class Use>
  void each(const std::string& name, Use use) const {
    for (const auto& [matrix, readings] : lane_->arrays) {
      for (const char* prefix : {"", "slow_", "fast_"}) {
        const auto at = readings.find(prefix + name);
        if (at != readings.end()) use(at->second.last_finite(), matrix);
      }
    }
  }

  const report::Lane* lane_;
};

/// Cost card of one run, put together part by part.
class Card {
 public:
  Card(const Config& config, const report::RunFile& run)
      : config_(config),
        lane_(own_lane(run)),
        readings_(lane_),
        arrays_(crossbar_spec(config)),
        cost_(cost_section().read(config)) {}

  CostCard all() {
    card_.node_m = cost_.node_m;
    steps_ = std::max(1.0, static_cast<double>(lane_.steps));
    count_lines();
    arrays();
    converters();
    at_lines("amplifier", circuit().amplifier_power_W, Unit::watt, "circuit.amplifier_power", cost_.amplifier_um2,
             "sensed");
    at_lines("driver", circuit().line_capacitance_F, Unit::farad, "circuit.line_capacitance", cost_.driver_um2,
             "driven");
    writes();
    digital();
    latency();
    endurance();
    if (correlator_section().read(config_).on())
      leave_out("the multiplier and the capacitor of every weight (correlator.*)");
    if (const AttentionErrors attention = attention_section().read(config_); attention.analog)
      leave_out("the multipliers and exponentials of attention (attention.*)");
    for (const char* part : {"sample-and-holds, multiplexers, decoders and clocks", "wires between arrays and buffers",
                             "selectors (but for cost.cell_area)", "leakage", "area and memory of the digital part"}) {
      card_.left_out.emplace_back(part);
    }
    return std::move(card_);
  }

 private:
  const CircuitSpec& circuit() const { return arrays_.circuit; }

  void leave_out(const std::string& what) { card_.left_out.push_back(what); }

  std::optional<double> of(const std::string& series) const { return median_of(lane_, series); }

  /// Energy that a key prices: known where the key is set.
  std::optional<double> priced(const std::string& series, double price) const {
    return price > 0 ? of(series) : std::optional<double>();
  }

  std::optional<double> area(const std::string& what, double each_um2, double amount, const std::string& key) {
    if (each_um2 > 0) return each_um2 * m2_per_um2 * amount;
    leave_out(fmt::format("area of {} ({} of them; {})", what, amount, key));
    return std::nullopt;
  }

  void count_lines() {
    const double copies =
        (arrays_.tokens.use == TokenUse::replicated ? static_cast<double>(coupled_rows(config_)) : 1) *
        arrays_per_matrix(arrays_);
    double weights = 0;
    for (const auto& [name, shape] : lane_.array_shapes) {
      lines_ += copies * static_cast<double>(shape.first + shape.second);
      weights += static_cast<double>(shape.first * shape.second);
    }
    if (lane_.array_shapes.empty())
      leave_out(
          "everything that counts lines and weights: the file has no state of "
          "its arrays");
    card_.operations = 2 * weights * static_cast<double>(coupled_rows(config_));
  }

  void arrays() {
    const double devices = readings_.sum("devices").value_or(0);
    card_.parts.push_back({"arrays", of("inference_array_energy"), of("array_energy"),
                           devices * cost_.cell_F2 * cost_.node_m * cost_.node_m,
                           fmt::format("heat of all reads; {:.0f} devices of {:g} F^2 (cost.cell_area), F = {:g} nm "
                                       "(cost.node)",
                                       devices, cost_.cell_F2, 1e9 * cost_.node_m)});
  }

  void converters() {
    const PeripherySpec& p = arrays_.periphery;
    const bool dacs = p.forward.dac.converts() || p.transposed.dac.converts();
    const bool adcs = p.forward.adc.converts() || p.transposed.adc.converts();
    if (dacs) {
      card_.parts.push_back({"DACs", priced("inference_dac_energy", circuit().dac_energy_J),
                             priced("dac_energy", circuit().dac_energy_J),
                             area("DACs", cost_.dac_um2, lines_, "cost.dac_area"),
                             fmt::format("circuit.dac_energy = {}; one for each of {:g} driven lines (cost.dac_area)",
                                         price_text(circuit().dac_energy_J, Unit::joule), lines_)});
    }
    if (adcs) {
      const double amount = std::ceil(lines_ / cost_.lines_per_adc);
      std::optional<double> step;
      const auto both = of("conversion_energy"), analog = of("dac_energy");
      if (circuit().adc_energy_J > 0 && both && analog) step = *both - *analog;
      card_.parts.push_back(
          {"ADCs", priced("inference_adc_energy", circuit().adc_energy_J), step,
           area("ADCs", cost_.adc_um2, amount, "cost.adc_area"),
           fmt::format("circuit.adc_energy = {}; {:g} of them, one for {:g} sensed lines "
                       "(cost.lines_per_adc, cost.adc_area)",
                       price_text(circuit().adc_energy_J, Unit::joule), amount, cost_.lines_per_adc)});
    }
    if (!dacs) leave_out("DACs: ideal ones are simulated (crossbar.forward_dac_bits, transposed_dac_bits)");
    if (!adcs) leave_out("ADCs: ideal ones are simulated (crossbar.forward_adc_bits, transposed_adc_bits)");
    if (dacs && circuit().dac_energy_J == 0) leave_out("energy of the DACs (circuit.dac_energy)");
    if (adcs && circuit().adc_energy_J == 0) leave_out("energy of the ADCs (circuit.adc_energy)");
  }

  /// Adds a circuit that stands at each line. unit, key: of the price of its energy; lines: which they are.
  void at_lines(const std::string& name, double price, Unit unit, const char* key, double um2, const char* lines) {
    if (price == 0) leave_out(fmt::format("energy of the {}s ({})", name, key));
    card_.parts.push_back(
        {name + "s", priced(fmt::format("inference_{}_energy", name), price), priced(name + "_energy", price),
         area(name + "s", um2, lines_, fmt::format("cost.{}_area", name)),
         fmt::format("{} = {}; one for each of {:g} {} lines", key, price_text(price, unit), lines_, lines)});
  }

  /// Amount per step of learning; programming does not belong to a step.
  std::optional<double> per_step(const char* all, const char* programming) const {
    const auto total = readings_.sum(all), first = readings_.sum(programming);
    if (!total || !first) return std::nullopt;
    return (*total - *first) / steps_;
  }

  void writes() {
    const auto [up, down] = write_pulses(arrays_.device);
    const bool known = up.voltage_V * up.width_s > 0 || down.voltage_V * down.width_s > 0;
    const auto heat = known ? per_step("write_energy", "programming_energy") : std::nullopt;
    if (!known)
      leave_out(
          "writes: the energy of a pulse is not known. Set device.pulse_voltage_up, pulse_width_up, "
          "...");
    card_.parts.push_back(
        {"writes", std::nullopt, heat, std::nullopt,
         known ? fmt::format("heat of the pulses: up {:g} V, {:g} s, down {:g} V, {:g} s (from device.pulse_* or "
                             "the model)",
                             up.voltage_V, up.width_s, down.voltage_V, down.width_s)
               : "pulses not known"});
    const auto verify = per_step("verify_energy", "programming_reads_energy");
    if (verify.value_or(0) > 0) {
      card_.parts.push_back(
          {"verify reads", std::nullopt, verify, std::nullopt, "crossbar.verify_time, at the mean conductance"});
    }
    const auto transfers = readings_.sum("transfer_energy");
    if (transfers.value_or(0) > 0) {
      card_.parts.push_back({"transfers", std::nullopt, *transfers / steps_, std::nullopt, "crossbar.update"});
    }
    const auto pulses_s = known ? per_step("write_time", "programming_time") : std::nullopt;
    const auto reads = per_step("verify_reads", "programming_reads");
    if (!pulses_s || !reads) return;
    card_.writes_s = *pulses_s + *reads * arrays_.programming.read_time * circuit().time_constant_s;
  }

  void digital() {
    const double price = circuit().digital_energy_J;
    if (price == 0) leave_out("digital work (circuit.digital_energy)");
    card_.parts.push_back(
        {"digital", priced("inference_digital_energy", price), priced("digital_energy", price), std::nullopt,
         fmt::format("circuit.digital_energy = {}", price_text(circuit().digital_energy_J, Unit::joule))});
  }

  void latency() {
    card_.inference_s = of("inference_time");
    const auto phase = of("phase_time");
    if (phase) card_.phases_s = *phase * static_cast<double>(train_options(config_).batch);
    if (!card_.inference_s) leave_out("inference: the version that wrote the file did not log it");
  }

  void endurance() {
    card_.endurance = arrays_.device.endurance;
    card_.most_pulses = readings_.largest("device_pulses_max");
    const auto devices = readings_.sum("devices"), up = readings_.sum("pulses_up"), down = readings_.sum("pulses_down");
    if (devices && up && down && *devices > 0) card_.mean_pulses = (*up + *down) / *devices;
    if (card_.endurance == 0) leave_out("endurance spent (device.endurance)");
  }

  const Config& config_;
  const report::Lane& lane_;
  Readings readings_;
  CrossbarSpec arrays_;
  CostOptions cost_;
  double steps_ = 1, lines_ = 0;
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

CostCard cost_card(const Config& config, const report::RunFile& run) { return Card(config, run).all(); }

CostCard read_cost_card(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  const H5Reader file(path);
  if (const std::string kind = file.text_attribute("kind"); kind != "train") {
    file.fail("attribute kind", fmt::format("kind \"{}\" has no cost card. Give a file of nudge train", kind));
  }
  for (const std::string& setting : settings) {
    if (setting.starts_with("cost.")) continue;
    throw UserError(fmt::format("--set {}: the run is over, so only keys of [cost] can change", setting));
  }
  const Config stored = stored_program_config(file);
  const Config config = settings.empty() ? stored : config_on_top(stored, path.string(), settings);
  return cost_card(config, report::load_run_file(path));
}

}  // namespace nudge
