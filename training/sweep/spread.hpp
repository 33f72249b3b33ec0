// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge {

/// Mean and standard deviation (divisor n − 1) of the finite values; NaN without one, deviation 0 of a single one.
struct Spread {
  double mean, deviation;
};
Spread spread_of_finite(const std::vector<double>& values);

/// Summary of one result over all runs of a cell (a point with its seeds). A failed run is no missing number but worse
/// than every other. So a cell with a failed run has no mean, which would be of the survivors alone, but a median over
/// all of its runs.
struct CellSpread {
  int runs = 0, failed = 0;        ///< runs that ended well, and that failed
  double mean = 0, deviation = 0;  ///< mean and deviation of the finite values; NaN without one, or with a failed run
  /// Median with failed runs ranked worst; NaN where it falls on a failed run, or without a finite value.
  double median = 0;

  /// Value shown for the cell: the mean, or with a failed run the median.
  double shown() const { return failed > 0 ? median : mean; }
};

/// Value of the result for a failed run: +∞, or −∞ where higher is better (higher_is_better).
double failed_value(const std::string& result);

/// Summarises one value per run: infinite means failed; NaN means not measured and is left out.
CellSpread cell_spread(const std::vector<double>& values, const std::string& result);

/// Text of the failure rate: "2 of 5 failed".
std::string failure_rate(const CellSpread& cell);

/// Note that explains a median in a table.
constexpr const char* kMedianNote = "median: of all runs, with failed runs ranked worst";

/// Text of a cell in a table: `mean` where no run failed; else "2.41 median, 2 of 5 failed", or "-, 3 of 5 failed".
/// `median`: the cell's median as text, which is shown where it is finite.
std::string cell_text(const CellSpread& cell, const std::string& mean, const std::string& median);

/// Sorts names of results by importance; a run is judged by the first. The order is scores before losses, the test
/// before the validation split, then the cosine, then the others as they come. Attribute `results` of a table of runs.
std::vector<std::string> results_in_order(const std::vector<std::string>& names);

/// True if a larger result is better: accuracies, cosines and agreements. Losses, errors and costs are better when
/// lower.
bool higher_is_better(const std::string& result);

}  // namespace nudge
