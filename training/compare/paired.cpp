// SPDX-License-Identifier: Apache-2.0
#include "training/compare/paired.hpp"

#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/base/student_t.hpp"
#include "training/sweep/result_order.hpp"
#include "training/sweep/spread.hpp"

namespace nudge {

PairedDifference paired_difference(const std::vector<double>& values, const std::vector<double>& baseline,
                                   const std::string& result) {
  NUDGE_EXPECT(values.size() == baseline.size());
  const double better = higher_is_better(result) ? 1 : -1;
  PairedDifference out;
  std::vector<double> differences;
  for (std::size_t s = 0; s < values.size(); ++s) {
    if (std::isnan(values[s]) || std::isnan(baseline[s])) continue;
    ++out.seeds;
    const bool both = std::isfinite(values[s]) && std::isfinite(baseline[s]);
    if (both) differences.push_back(values[s] - baseline[s]);
    out.failed += both ? 0 : 1;
    // A failed run is as bad as another, whatever infinity stands for it.
    const double x = std::isinf(values[s]) ? -std::numeric_limits<double>::infinity() : better * values[s];
    const double y = std::isinf(baseline[s]) ? -std::numeric_limits<double>::infinity() : better * baseline[s];
    out.won += x > y ? 1 : 0;
    out.lost += x < y ? 1 : 0;
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Spread spread = out.failed > 0 ? Spread{nan, nan} : spread_of_finite(differences);
  out.mean = spread.mean;
  out.deviation = spread.deviation;
  out.low = out.failed > 0 ? nan : -infinity;
  out.high = out.failed > 0 ? nan : infinity;
  if (out.failed > 0 || out.seeds < 2) return out;
  const double half = student_t_half_width(spread.deviation, out.seeds);
  out.low = spread.mean - half;
  out.high = spread.mean + half;
  return out;
}

}  // namespace nudge
