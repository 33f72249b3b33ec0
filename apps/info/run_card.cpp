// SPDX-License-Identifier: Apache-2.0
#include "apps/info/run_card.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/config/stored_config.hpp"
#include "training/train/accepted_steps.hpp"

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

RunReadings lane_readings(const report::Lane& lane) {
  RunReadings out;
  for (const auto& [name, series] : lane.series) {
    const auto value = accepted_median(series.y, lane.of("skipped").y, lane.of("nonfinite").y);
    if (value) out.series.emplace(name, *value);
  }
  for (const auto& [array, readings] : lane.arrays) {
    for (const auto& [name, series] : readings) {
      if (const double last = series.last_finite(); std::isfinite(last)) out.arrays[array][name] = last;
    }
  }
  out.shapes = lane.array_shapes;
  return out;
}

}  // namespace

CostCard run_card(const Config& config, const report::RunFile& run) {
  const report::Lane& lane = own_lane(run);
  return cost_card(config, card_counts(lane_readings(lane), static_cast<double>(lane.steps)));
}

CostCard read_run_card(const std::filesystem::path& path, const std::vector<std::string>& settings) {
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
  return run_card(config, report::load_run_file(path));
}

}  // namespace nudge
