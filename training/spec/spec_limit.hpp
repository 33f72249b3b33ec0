// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "training/spec/spec_axes.hpp"

namespace nudge {

/// Mean of paired differences with a simultaneous 95 % interval. Infinite: a run failed.
struct SpecTest {
  double mean = 0, low = 0, high = 0;
};

/// Binomial standard error of an accuracy p on N samples. Two right and two wrong answers are added (Agresti and Coull,
/// Am. Stat. 52 (1998) 119), so that the error is not 0 where all answers are right:
///     a = (p N + 2)/(N + 4),  sqrt(a (1 - a)/(N + 4)).
/// Seeds share the test samples, so more seeds do not make it smaller.
double binomial_floor(double accuracy, double samples);

/// Tests the mean of differences of n seeds. Its half width is the larger one of
///     t(1 - 0.05/2m, n - 1) s/sqrt(n)  and  z(1 - 0.05/2m) binomial_floor(p, N),
/// for one of m tests. `samples` N: of test accuracies, whose mean is `accuracy` p; 0: the score is none, and the
/// interval covers seeds only. Fewer than two seeds: no interval, infinite ends. A difference that is not finite: a run
/// of the point failed. Then the mean is +infinity, and it is certain where every run failed.
SpecTest paired_test(std::span<const double> differences, double accuracy, double samples, int tests);

/// Excess of the loss of a point over the bound, at a position of an axis.
struct SpecTrial {
  double u = 0;
  SpecTest excess;  ///< reference − point − bound (exact − null): below 0 the loss is below the bound
};

/// Next position to try, or nothing. The worst value comes first. The best one follows, unless a trial is below the
/// bound already. Then come at most `bisections` bisections between the last trial below the bound and the first above
/// it. Known trials (the config itself) count as ends. Nothing is bisected where the worst value is not above the bound,
/// or the best one is.
std::optional<double> next_position(const SpecAxis& axis, std::vector<SpecTrial> trials, int bisections);

/// Outcome of the search for a requirement.
enum class SpecOutcome {
  found,   ///< the loss reaches the bound within the range
  beyond,  ///< no trial is above the bound, up to the worst value
  fails,   ///< it is above the bound at the best value
  open,    ///< a trial is above the bound, and the seeds do not say for certain which value is the first
};

/// SpecLimit of a key. Numbers that are not known are NaN.
struct SpecLimit {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  SpecOutcome outcome = SpecOutcome::open;
  double value = none;  ///< where the loss reaches the bound; of whole numbers the worst that is below it
  double good = none;   ///< worst tried value whose loss is below the bound for certain
  double bad = none;    ///< best tried value whose loss is above the bound for certain
  std::optional<std::size_t> at = {};  ///< trial that meets the requirement, the nearest to it

  /// Verdict on a value of the config: met or not met for certain, else open.
  enum class Verdict { met, open, not_met };
  Verdict verdict(const SpecAxis& axis) const;
  /// Margin of the config: on a logarithmic axis the factor by which its value could worsen, else the distance, above
  /// 0 where it is on the good side. Nothing: no requirement was found, or the config has an ideal part or the value 0.
  std::optional<double> margin(const SpecAxis& axis) const;
};

/// Reads the requirement off the trials of an axis. Between the last trial below the bound and the first above it the
/// excess is taken as linear in u.
SpecLimit spec_limit(const SpecAxis& axis, const std::vector<SpecTrial>& trials);

}  // namespace nudge
