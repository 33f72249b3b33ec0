// SPDX-License-Identifier: Apache-2.0
#include "training/config/grid_repeats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

std::string axis_text(const std::string& grid, const GridAxis& axis) {
  return fmt::format("{}.{} = [{}]", grid, axis.key, fmt::join(axis.values, ", "));
}

/// The values of an axis are texts that Config has made of numbers: equal numbers are equal texts.
void each_axis(const Config& config, const std::string& grid, std::vector<std::string>& problems) {
  for (const GridAxis& axis : config.grid(grid)) {
    const auto repeat = first_repeat(axis.values);
    if (!repeat) continue;
    problems.push_back(fmt::format("{} ([{}] {})", axis_text(grid, axis), repeat->again, repeat_rule(*repeat)));
  }
}

void zipped_places(const Config& config, std::vector<std::string>& problems) {
  const std::vector<GridAxis>& axes = config.grid("sweep.grid");
  if (axes.empty()) return;
  std::vector<std::vector<std::string>> places(axes.front().values.size());
  for (const GridAxis& axis : axes) {
    if (axis.values.size() != places.size()) return;  // refused by check_mode_axes()
    for (std::size_t v = 0; v < places.size(); ++v) places[v].push_back(axis.values[v]);
  }
  const auto repeat = first_repeat(places);
  if (!repeat) return;
  problems.push_back(fmt::format("{} (with sweep.mode = zip the place of [{}] {})",
                                 axis_text("sweep.grid", axes.front()), repeat->again, repeat_rule(*repeat)));
}

}  // namespace

void expect_no_grid_repeats(const Config& config) {
  std::vector<std::string> problems;
  config.text("sweep.mode") == "zip" ? zipped_places(config, problems) : each_axis(config, "sweep.grid", problems);
  each_axis(config, "compare.grid", problems);
  if (!problems.empty()) throw UserError(fmt::format("{}", fmt::join(problems, "\n")));
}

}  // namespace nudge
