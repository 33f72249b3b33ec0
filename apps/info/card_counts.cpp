// SPDX-License-Identifier: Apache-2.0
// What a run file counted of an inference and of a training step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/info/cost_card.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/config/stored_config.hpp"

namespace nudge {
namespace {

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

std::optional<double> difference_of(const std::optional<double>& all, const std::optional<double>& part) {
  return all && part ? std::optional(*all - *part) : std::nullopt;
}

/// Reads the last values of the readings of all arrays, of both that a matrix may have ("fast_", "slow_").
class Readings {
 public:
  explicit Readings(const report::Lane& lane) : lane_(&lane) {}

  std::optional<double> sum(const std::string& name) const {
    std::optional<double> total;
    each(name, [&](double value) { total = total.value_or(0) + value; });
    return total;
  }
  std::optional<double> largest(const std::string& name) const {
    std::optional<double> most;
    each(name, [&](double value) { most = std::max(most.value_or(value), value); });
    return most;
  }
  /// Amount per step of learning; programming does not belong to a step.
  std::optional<double> per_step(const char* all, const char* programming, double steps) const {
    const auto learning = difference_of(sum(all), sum(programming));
    return learning ? std::optional(*learning / steps) : std::nullopt;
  }

 private:
  template <class Use>
  void each(const std::string& name, Use use) const {
    for (const auto& [matrix, readings] : lane_->arrays) {
      for (const char* prefix : {"", "slow_", "fast_"}) {
        const auto at = readings.find(prefix + name);
        if (at != readings.end()) use(at->second.last_finite());
      }
    }
  }

  const report::Lane* lane_;
};

ReadCounts read_counts(const report::Lane& lane, const std::string& prefix) {
  const auto of = [&](const char* name) { return median_of(lane, prefix + name); };
  ReadCounts out;
  out.array_J = of("array_energy");
  out.dac_conversions = of("dac_conversions");
  out.adc_conversions = of("adc_conversions");
  out.partial_sums = of("partial_sums");
  out.amplifier_s = of("amplifier_time");
  out.driven_V2 = of("driven_cells");
  out.operations = of("digital_operations");
  out.dac_J = of("dac_energy");
  out.adc_J = of("adc_energy");
  out.amplifier_J = of("amplifier_energy");
  out.driver_J = of("driver_energy");
  out.digital_J = of("digital_energy");
  return out;
}

}  // namespace

CardCounts card_counts(const report::RunFile& run) {
  const report::Lane& lane = own_lane(run);
  const Readings readings(lane);
  CardCounts out;
  out.steps = std::max(1.0, static_cast<double>(lane.steps));
  out.inference = read_counts(lane, "inference_");
  out.step = read_counts(lane, "");
  out.step.adc_conversions = difference_of(median_of(lane, "conversions"), out.step.dac_conversions);
  out.step.adc_J = difference_of(median_of(lane, "conversion_energy"), out.step.dac_J);
  out.inference_s = median_of(lane, "inference_time");
  out.example_s = median_of(lane, "phase_time");
  out.writes_J = readings.per_step("write_energy", "programming_energy", out.steps);
  out.pulses_s = readings.per_step("write_time", "programming_time", out.steps);
  out.verify_J = readings.per_step("verify_energy", "programming_reads_energy", out.steps);
  out.verify_reads = readings.per_step("verify_reads", "programming_reads", out.steps);
  if (const auto all = readings.sum("transfer_energy")) out.transfers_J = *all / out.steps;
  out.devices = readings.sum("devices").value_or(0);
  out.most_pulses = readings.largest("device_pulses_max");
  const auto up = readings.sum("pulses_up"), down = readings.sum("pulses_down");
  if (up && down && out.devices > 0) out.mean_pulses = (*up + *down) / out.devices;
  out.arrays = lane.array_shapes;
  return out;
}

CostCard cost_card(const Config& config, const report::RunFile& run) { return cost_card(config, card_counts(run)); }

CostCard read_cost_card(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  const H5Reader file(path);
  if (const std::string kind = file.text_attribute("kind"); kind != "train") {
    file.fail("attribute kind", fmt::format("kind \"{}\" has no cost card. Give a file of nudge train", kind));
  }
  for (const std::string& setting : settings) {
    if (setting.starts_with("chip.")) continue;
    throw UserError(fmt::format("--set {}: the run is over, so only keys of [chip] can change", setting));
  }
  const Config stored = stored_program_config(file);
  const Config config = settings.empty() ? stored : config_on_top(stored, path.string(), settings);
  return cost_card(config, report::load_run_file(path));
}

}  // namespace nudge
