// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/measured.hpp"
#include "sim/config/config.hpp"
#include "training/train/run_readings.hpp"

namespace nudge {

/// Costs that every training of a study carries, in their order: inference_energy, step_energy, latency, area. Sums over
/// the parts that the cost card knows (training/card/cost_card.hpp).
const std::vector<Measure>& cost_measures();

/// Puts the cost of a run into the values of those `columns` that are of cost_measures(): NaN where no part is known. A
/// chip that the card refuses has no cost either; its training is a result all the same.
void fill_costs(const Config& config, const RunReadings& readings, const std::vector<Measure>& columns,
                std::vector<double>& values);

}  // namespace nudge
