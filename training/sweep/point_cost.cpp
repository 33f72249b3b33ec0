// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/point_cost.hpp"

#include <array>
#include <limits>

#include "sim/base/errors.hpp"
#include "training/card/cost_card.hpp"
#include "training/config/train_options.hpp"

namespace nudge {
namespace {

constexpr double no_cost = std::numeric_limits<double>::quiet_NaN();

double or_no_cost(double sum) { return sum > 0 ? sum : no_cost; }

/// In the order of cost_measures().
std::array<double, 4> costs_by_card(const Config& config, const RunReadings& readings) try {
  const CostCard card = cost_card(config, card_counts(readings, static_cast<double>(train_options(config).rate.steps)));
  return {or_no_cost(card.inference_J()), or_no_cost(card.step_J()), card.inference_s.value_or(no_cost),
          or_no_cost(card.area_m2())};
} catch (const UserError&) {
  return {no_cost, no_cost, no_cost, no_cost};
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

void fill_costs(const Config& config, const RunReadings& readings, const std::vector<Measure>& columns,
                std::vector<double>& values) {
  NUDGE_EXPECT(columns.size() == values.size());
  if (readings.empty()) return;
  const std::array<double, 4> all = costs_by_card(config, readings);
  for (std::size_t c = 0; c < all.size(); ++c) {
    for (std::size_t m = 0; m < columns.size(); ++m) {
      if (columns[m].name == cost_measures()[c].name) values[m] = all[c];
    }
  }
}

}  // namespace nudge
