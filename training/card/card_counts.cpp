// SPDX-License-Identifier: Apache-2.0
// What a run counted of an inference and of a training step.
#include <algorithm>

#include "training/card/cost_card.hpp"

namespace nudge {
namespace {

std::optional<double> reading_of(const RunReadings& readings, const std::string& name) {
  const auto at = readings.series.find(name);
  return at == readings.series.end() ? std::nullopt : std::optional(at->second);
}

std::optional<double> difference_of(const std::optional<double>& all, const std::optional<double>& part) {
  return all && part ? std::optional(*all - *part) : std::nullopt;
}

/// Reads the last values of the readings of all arrays, of both that a matrix may have ("fast_", "slow_").
class ArrayReadings {
 public:
  explicit ArrayReadings(const RunReadings& readings) : all_(&readings) {}

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
    for (const auto& [matrix, readings] : all_->arrays) {
      for (const char* prefix : {"", "slow_", "fast_"}) {
        const auto at = readings.find(prefix + name);
        if (at != readings.end()) use(at->second);
      }
    }
  }

  const RunReadings* all_;
};

ReadCounts read_counts(const RunReadings& readings, const std::string& prefix) {
  const auto of = [&](const char* name) { return reading_of(readings, prefix + name); };
  ReadCounts out;
  out.array_J = of("array_energy");
  out.dac_conversions = {of("dac_conversions"), of("transposed_dac_conversions")};
  out.adc_conversions = {of("adc_conversions"), of("transposed_adc_conversions")};
  out.partial_sums = {of("partial_sums"), of("transposed_partial_sums")};
  out.cells = of("read_cells");
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

CardCounts card_counts(const RunReadings& readings, double steps) {
  const ArrayReadings arrays(readings);
  CardCounts out;
  out.steps = std::max(1.0, steps);
  out.inference = read_counts(readings, "inference_");
  out.step = read_counts(readings, "");
  out.step.adc_conversions.all = difference_of(reading_of(readings, "conversions"), out.step.dac_conversions.all);
  out.step.adc_J = difference_of(reading_of(readings, "conversion_energy"), out.step.dac_J);
  out.inference_s = reading_of(readings, "inference_time");
  out.example_s = reading_of(readings, "phase_time");
  out.writes_J = arrays.per_step("write_energy", "programming_energy", out.steps);
  out.pulses_s = arrays.per_step("write_time", "programming_time", out.steps);
  out.verify_J = arrays.per_step("verify_energy", "programming_reads_energy", out.steps);
  out.verify_reads = arrays.per_step("verify_reads", "programming_reads", out.steps);
  if (const auto all = arrays.sum("transfer_energy")) out.transfers_J = *all / out.steps;
  out.devices = arrays.sum("devices").value_or(0);
  out.most_pulses = arrays.largest("device_pulses_max");
  const auto up = arrays.sum("pulses_up"), down = arrays.sum("pulses_down");
  if (up && down && out.devices > 0) out.mean_pulses = (*up + *down) / out.devices;
  out.arrays = readings.shapes;
  return out;
}

}  // namespace nudge
