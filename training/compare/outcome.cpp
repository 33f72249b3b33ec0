// SPDX-License-Identifier: Apache-2.0
#include "training/compare/outcome.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "training/data/task.hpp"

namespace nudge {
namespace {

/// Metric of an entrant's test runs in the order of the seeds; NaN where the run did not end well.
std::vector<double> over_seeds(const Sweep& test, const std::string& entrant, const std::vector<std::int64_t>& seeds,
                               const std::string& metric) {
  std::size_t m = 0;
  while (test.metrics[m].name != metric) ++m;
  std::vector<double> values(seeds.size(), std::numeric_limits<double>::quiet_NaN());
  for (const SweepPoint& point : test.points) {
    for (std::size_t s = 0; s < seeds.size(); ++s) {
      const bool here = point.values.front() == entrant && point.seed == seeds[s] && point.status == "ok";
      if (here) values[s] = point.metrics[m];
    }
  }
  return values;
}

double sum_of_finite(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::isfinite(value) ? value : 0;
  return sum;
}

}  // namespace

std::vector<ComparedEntrant> chosen_entrants(const CompareProtocol& protocol, const Sweep& tuning) {
  std::vector<ComparedEntrant> rows;
  for (const Entrant& entrant : protocol.entrants) {
    std::vector<SweepPoint> own;
    for (const SweepPoint& point : tuning.points) {
      if (point.values.front() == entrant.name) own.push_back(point);
    }
    rows.push_back({entrant, choose(protocol.axes, own, tuning.metrics)});
  }
  return rows;
}

void summarise(const CompareProtocol& protocol, const Sweep& test, std::vector<ComparedEntrant>& entrants) {
  const auto& seeds = protocol.test_seeds;
  const std::string metric = score_metric(protocol.base);
  const std::string& first = entrants.front().entrant.name;
  const auto baseline = over_seeds(test, first, seeds, "test_loss");
  for (ComparedEntrant& row : entrants) {
    const std::string& name = row.entrant.name;
    row.runs = row.failed = 0;
    for (const SweepPoint& point : test.points) {
      if (point.values.front() == name && !point.status.empty()) ++(point.status == "ok" ? row.runs : row.failed);
    }
    const auto losses = over_seeds(test, name, seeds, "test_loss");
    row.test = spread_of_finite(losses);
    row.validation = spread_of_finite(over_seeds(test, name, seeds, "validation_loss"));
    row.skipped = sum_of_finite(over_seeds(test, name, seeds, "skipped"));
    row.nonfinite = sum_of_finite(over_seeds(test, name, seeds, "nonfinite"));
    row.difference = paired_difference(losses, baseline);
    if (metric.empty()) continue;
    const std::string score = "test_" + metric;
    row.validation_score = spread_of_finite(over_seeds(test, name, seeds, "validation_" + metric));
    row.test_score = spread_of_finite(over_seeds(test, name, seeds, score));
    row.score_difference =
        paired_difference(over_seeds(test, name, seeds, score), over_seeds(test, first, seeds, score));
  }
}

}  // namespace nudge
