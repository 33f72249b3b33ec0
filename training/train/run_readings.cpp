// SPDX-License-Identifier: Apache-2.0
#include "training/train/run_readings.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/statistics.hpp"
#include "training/train/accepted_steps.hpp"

namespace nudge {

std::optional<double> accepted_median(const std::vector<double>& values, const std::vector<double>& skipped,
                                      const std::vector<double>& nonfinite) {
  const auto flagged = [](const std::vector<double>& flags, std::size_t i) { return i < flags.size() && flags[i] > 0; };
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && !flagged(skipped, i) && !flagged(nonfinite, i)) kept.push_back(values[i]);
  }
  if (kept.empty()) return std::nullopt;
  return median(std::move(kept));
}

RunReadings run_readings(const TrainLog& log, const NetworkPlan& plan) {
  RunReadings out;
  const std::string train = "train/", device = "device/";
  for (const std::string& name : log.names()) {
    if (name.starts_with(train)) {
      const auto value = accepted_median(log.values(name), log.values("train/skipped"), log.values("train/nonfinite"));
      if (value) out.series.emplace(name.substr(train.size()), *value);
      continue;
    }
    const std::size_t slash = name.rfind('/');
    if (!name.starts_with(device) || slash < device.size()) continue;
    const std::vector<double>& values = log.values(name);
    const auto last = std::find_if(values.rbegin(), values.rend(), [](double v) { return std::isfinite(v); });
    if (last != values.rend())
      out.arrays[name.substr(device.size(), slash - device.size())][name.substr(slash + 1)] = *last;
  }
  for (const Parameter& parameter : plan.parameters()) {
    if (out.arrays.count(parameter.name) > 0) out.shapes[parameter.name] = {parameter.shape.rows, parameter.shape.cols};
  }
  return out;
}

}  // namespace nudge
