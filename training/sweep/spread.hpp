// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge {

/// Mean and standard deviation (n − 1) of the finite values; NaN without one, deviation 0 of a single one.
struct Spread {
  double mean, deviation;
};
Spread spread_of_finite(const std::vector<double>& values);

/// What all runs of a cell, a place with its seeds, say of one result. A run that failed is no missing number but worse than every
/// other: a cell with one has no mean, which would be of the survivors alone, but a median over all of its runs.
struct CellSpread {
  int runs = 0, failed = 0;        ///< that ended well, and that did not
  double mean = 0, deviation = 0;  ///< of the finite values; NaN without one or with a run that failed
  double median = 0;  ///< the failed ranked worst; NaN where that reaches one of them, or without a finite value

  /// What stands for the cell: the mean, or where a run failed the median.
  double shown() const { return failed > 0 ? median : mean; }
};

/// A run that failed, as a value of the result: +∞, or −∞ where higher is better (higher_is_better).
double failed_value(const std::string& result);

/// Of a value per run: infinite where it failed; NaN, not measured, is left out.
CellSpread cell_spread(const std::vector<double>& values, const std::string& result);

/// "2 of 5 failed".
std::string failure_rate(const CellSpread& cell);

/// What a median in a table is.
constexpr const char* kMedianNote = "median: of all runs, those that failed ranked worst";

/// What stands in a table: `mean` where no run failed; else "2.41 median, 2 of 5 failed", or "-, 3 of 5 failed". `median`: the
/// cell's median as text, which is shown where it is finite.
std::string cell_text(const CellSpread& cell, const std::string& mean, const std::string& median);

/// Names of results in the order in which people ask for them, the one that a run is judged by first: scores before losses, the
/// test before the validation part, then the cosine, then the others as they come. Attribute `results` of a table of runs.
std::vector<std::string> results_in_order(const std::vector<std::string>& names);

/// Whether more of a result is better: accuracies, cosines and agreements. Losses, errors and costs are better when lower.
bool higher_is_better(const std::string& result);

}  // namespace nudge
