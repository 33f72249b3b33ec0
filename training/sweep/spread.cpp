// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// Median of numbers that may be infinite; NaN where the middle is infinite.
double median_of(std::vector<double> values) {
  if (values.empty()) return kNoNumber;
  const double middle = median(std::move(values));
  return std::isfinite(middle) ? middle : kNoNumber;
}

}  // namespace

Spread spread_of_finite(const std::vector<double>& values) {
  double sum = 0;
  double count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  if (count == 0) return {kNoNumber, kNoNumber};
  const double mean = sum / count;
  double squares = 0;
  for (const double value : values) {
    if (std::isfinite(value)) squares += (value - mean) * (value - mean);
  }
  return {mean, count > 1 ? std::sqrt(squares / (count - 1)) : 0};
}

double failed_value(const std::string& result) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return higher_is_better(result) ? -infinity : infinity;
}

CellSpread cell_spread(const std::vector<double>& values, const std::string& result) {
  CellSpread out;
  std::vector<double> ranked;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    ++(std::isfinite(value) ? out.runs : out.failed);
    ranked.push_back(std::isfinite(value) ? value : failed_value(result));
  }
  const Spread spread = out.failed > 0 ? Spread{kNoNumber, kNoNumber} : spread_of_finite(ranked);
  out.mean = spread.mean;
  out.deviation = spread.deviation;
  out.median = median_of(std::move(ranked));
  return out;
}

std::string failure_rate(const CellSpread& cell) {
  return fmt::format("{} of {} failed", cell.failed, cell.runs + cell.failed);
}

std::string cell_text(const CellSpread& cell, const std::string& mean, const std::string& median) {
  if (cell.failed == 0) return mean;
  return (std::isfinite(cell.median) ? median + " median, " : "-, ") + failure_rate(cell);
}

std::vector<std::string> results_in_order(const std::vector<std::string>& names) {
  const auto holds = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::vector<std::string> out;
  for (const char* asked : {"test_accuracy", "test_rmse", "test_loss", "validation_accuracy", "validation_rmse",
                            "validation_loss", "cosine"}) {
    if (holds(names, asked)) out.emplace_back(asked);
  }
  std::copy_if(names.begin(), names.end(), std::back_inserter(out),
               [&](const std::string& name) { return !holds(out, name); });
  return out;
}

bool higher_is_better(const std::string& result) {
  return result.ends_with("accuracy") || result.ends_with("cosine") || result.ends_with("agreement");
}

}  // namespace nudge
