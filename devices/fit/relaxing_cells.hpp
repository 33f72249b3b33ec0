// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "devices/effects.hpp"

namespace nudge {

/// Cells of one level: their conductances as programmed, and what they have changed by since, changes[time][cell].
struct LevelCells {
  std::vector<double> starts_S;
  std::map<std::size_t, std::map<double, double>> changes;
};

/// Changes of simulated cells of level `number` at all times of the tables, [time][cell], from the measured starts in turn.
std::vector<std::vector<double>> simulated_changes(const RelaxationSpec& spec, const LevelCells& level,
                                                   std::size_t number, std::uint64_t seed, std::size_t cells);

/// What the same cells have changed by at two times.
struct PairedChanges {
  std::vector<double> early, late;
};
PairedChanges paired(const std::map<double, double>& early, const std::map<double, double>& late);

/// Pearson's correlation.
double correlation_of(const PairedChanges& x);

/// Spearman's correlation of |early| and |late − r early|, r the regression: 0 where what comes later does not depend on what came
/// before, positive where a cell that has gone far goes on in larger steps.
double persistence_of(const PairedChanges& x);

}  // namespace nudge
