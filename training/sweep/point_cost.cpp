// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/point_cost.hpp"

#include <array>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

PointCostRule& cost_rule() {
  static PointCostRule rule;
  return rule;
}

}  // namespace

const std::vector<Measure>& cost_measures() {
  static const std::vector<Measure> columns = {
      {"inference_energy", "J", "energy of one example: sum of the parts that the cost card knows (nudge info --card)"},
      {"step_energy", "J", "energy of one training step, of the same parts"},
      {"latency", "s", "time of one example: free phase and reads of its outputs"},
      {"area", "m^2", "area of the parts that the cost card knows"}};
  return columns;
}

void set_point_cost(PointCostRule rule) { cost_rule() = std::move(rule); }

void fill_costs(const Config& config, const RunReadings& readings, const std::vector<Measure>& columns,
                std::vector<double>& values) {
  NUDGE_EXPECT(columns.size() == values.size());
  if (readings.empty() || !cost_rule()) return;
  const PointCost cost = cost_rule()(config, readings);
  const std::array<double, 4> all = {cost.inference_J, cost.step_J, cost.latency_s, cost.area_m2};
  for (std::size_t c = 0; c < all.size(); ++c) {
    for (std::size_t m = 0; m < columns.size(); ++m) {
      if (columns[m].name == cost_measures()[c].name) values[m] = all[c];
    }
  }
}

}  // namespace nudge
