// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/point_cost.hpp"

#include <array>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/base/open_list.hpp"
#include "training/card/cost_card.hpp"
#include "training/config/train_options.hpp"
#include "training/train/train_run.hpp"

namespace nudge {
namespace {

constexpr double no_cost = std::numeric_limits<double>::quiet_NaN();

double or_no_cost(double sum) { return sum > 0 ? sum : no_cost; }

/// In the order of gradient_cost_measures().
std::array<double, 5> costs_by_card(const Config& config, const RunReadings& readings) try {
  const CostCard card = cost_card(config, card_counts(readings, static_cast<double>(train_options(config).rate.steps)));
  return {or_no_cost(card.inference_J()), or_no_cost(card.step_J()), card.inference_s.value_or(no_cost),
          or_no_cost(card.area_m2()), card.phases_s.value_or(no_cost)};
} catch (const UserError&) {
  return {no_cost, no_cost, no_cost, no_cost, no_cost};
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

const std::vector<Measure>& gradient_cost_measures() {
  static const std::vector<Measure> columns = [] {
    std::vector<Measure> all = cost_measures();
    all.push_back({"step_time", "s", "time of the phases of a training step, its examples one after the other"});
    return all;
  }();
  return columns;
}

void fill_costs(const Config& config, const RunReadings& readings, const std::vector<Measure>& columns,
                std::vector<double>& values) {
  NUDGE_EXPECT(columns.size() == values.size());
  if (readings.empty()) return;
  const std::array<double, 5> all = costs_by_card(config, readings);
  for (std::size_t c = 0; c < all.size(); ++c) {
    for (std::size_t m = 0; m < columns.size(); ++m) {
      if (columns[m].name == gradient_cost_measures()[c].name) values[m] = all[c];
    }
  }
}

double measured_cost(Config config, const std::string& name) {
  std::vector<double> costs(gradient_cost_measures().size(), no_cost);
  measure_costs(std::move(config), gradient_cost_measures(), costs);
  return costs[place_named(gradient_cost_measures(), name)];
}

void measure_costs(Config config, const std::vector<Measure>& columns, std::vector<double>& values) {
  constexpr std::int64_t steps = 4;
  config.set_from_text("train.steps", std::to_string(steps));
  config.set_from_text("train.evaluate_every", "0");
  fill_costs(config, train(config, std::nullopt, {}, FinalTest::leave).readings, columns, values);
}

}  // namespace nudge
