// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "sim/base/measured.hpp"
#include "sim/config/config.hpp"
#include "training/train/run_readings.hpp"

namespace nudge {

/// Cost of a circuit, as every training of a study carries it: sums over the parts that are known. NaN: no part is.
struct PointCost {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  double inference_J = none, step_J = none;  ///< energy of one example, and of one training step
  double latency_s = none;                   ///< time of one example
  double area_m2 = none;
};

/// Columns of these numbers, in their order: inference_energy, step_energy, latency, area.
const std::vector<Measure>& cost_measures();

using PointCostRule = std::function<PointCost(const Config& config, const RunReadings& readings)>;

/// Sets how a cost follows from the config and the readings of a run. The cost card is a part of the program
/// (apps/info/cost_card.hpp); without a rule no cost is known. Call it before the first study.
void set_point_cost(PointCostRule rule);

/// Puts the cost of a run into the values of those `columns` that are of cost_measures().
void fill_costs(const Config& config, const RunReadings& readings, const std::vector<Measure>& columns,
                std::vector<double>& values);

}  // namespace nudge
