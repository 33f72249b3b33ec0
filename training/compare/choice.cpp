// SPDX-License-Identifier: Apache-2.0
#include "training/compare/choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/base/named.hpp"

namespace nudge {
namespace {

/// Mean validation loss of the runs of one combination; NaN when one of them failed.
double mean_loss(const SweepPoint* first, std::size_t seeds, std::size_t metric) {
  double sum = 0;
  for (std::size_t s = 0; s < seeds; ++s) {
    if (first[s].status != "ok") return std::numeric_limits<double>::quiet_NaN();
    sum += first[s].metrics[metric];
  }
  return sum / static_cast<double>(seeds);
}

bool sets(const Combination& combination, const std::string& key) {
  return std::any_of(combination.begin(), combination.end(),
                     [&](const std::string& one) { return one.starts_with(key + "="); });
}

/// Keys of which the chosen point has an outermost value. `keys` are the last of a point's columns.
std::vector<std::string> edges_of(const std::vector<GridAxis>& axes, const SweepPoint& chosen,
                                  const std::vector<SweepPoint>& all) {
  std::vector<std::string> edges;
  const std::size_t labels = chosen.numbers.size() - axes.size();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const double value = chosen.numbers[labels + a];
    if (!std::isfinite(value)) continue;  // a text has no edge
    double low = value, high = value;
    for (const SweepPoint& point : all) {
      low = std::min(low, point.numbers[labels + a]);
      high = std::max(high, point.numbers[labels + a]);
    }
    if (low < high && (value == low || value == high)) edges.push_back(axes[a].key);
  }
  return edges;
}

}  // namespace

std::optional<Choice> choose(const std::vector<GridAxis>& axes, const std::vector<Combination>& combinations,
                             const std::vector<SweepPoint>& tuning, const std::vector<SweepMetric>& metrics) {
  Choice choice{combinations.front(), {}, {}, std::numeric_limits<double>::quiet_NaN()};
  if (tuning.empty()) {
    for (const GridAxis& axis : axes) choice.values.push_back(axis.values.front());
    return choice;
  }
  const std::size_t seeds = tuning.size() / combinations.size();
  NUDGE_EXPECT(seeds >= 1 && seeds * combinations.size() == tuning.size());
  const std::size_t metric = place_named(metrics, "validation_loss");
  std::size_t best = combinations.size();
  for (std::size_t c = 0; c < combinations.size(); ++c) {
    const double loss = mean_loss(&tuning[c * seeds], seeds, metric);
    if (!std::isfinite(loss) || (best < combinations.size() && !(loss < choice.validation_loss))) continue;
    best = c;
    choice.validation_loss = loss;
  }
  if (best == combinations.size()) return std::nullopt;
  const SweepPoint& chosen = tuning[best * seeds];
  choice.combination = combinations[best];
  const std::size_t labels = chosen.values.size() - axes.size();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    choice.values.push_back(sets(choice.combination, axes[a].key) ? chosen.values[labels + a] : "");
  }
  choice.edges = edges_of(axes, chosen, tuning);
  return choice;
}

}  // namespace nudge
