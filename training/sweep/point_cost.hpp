// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/measured.hpp"
#include "sim/config/config.hpp"
#include "training/train/run_readings.hpp"

namespace nudge {

/// Costs that every training of a study carries, in their order: inference_energy, step_energy, latency, area. Sums over
/// the parts that the cost card knows (training/card/cost_card.hpp).
const std::vector<Measure>& cost_measures();

/// Costs of the points of gradient checks: cost_measures(), and step_time.
const std::vector<Measure>& gradient_cost_measures();

/// Puts the cost of a run into the values of those `columns` that are of gradient_cost_measures(): NaN where no part is known. A
/// chip that the card refuses has no cost either; its training is a result all the same.
void fill_costs(const Config& config, const RunReadings& readings, const std::vector<Measure>& columns,
                std::vector<double>& values);

/// Measures these costs of a config by a training of four steps.
void measure_costs(Config config, const std::vector<Measure>& columns, std::vector<double>& values);
/// Measures one of gradient_cost_measures(); NaN where the cost card knows no part.
double measured_cost(Config config, const std::string& name);

}  // namespace nudge
