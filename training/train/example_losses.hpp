// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// What an evaluation found of each example (a sequence, or samples side by side), in their order: the cost summed over its rows
/// that count, and how many those are.
struct ExampleLosses {
  std::vector<double> loss, rows;

  void add(double summed_loss, Index counted);
  /// PREFIX/example_loss and example_rows; nothing where there are none.
  void write(const std::string& prefix, const std::string& unit, H5Document& document) const;
  static ExampleLosses read(const std::string& prefix, const H5Reader& file);
};

/// What one network scores below another on the same held-out rows, with its two-sided 95 % interval over the examples that were drawn
/// for them: of d_i = (loss of the other − loss of the one) of example i with r_i rows
///     won = Σ d_i / Σ r_i  ±  t(0.975, n − 1) √(n/(n − 1) Σ (d_i − won r_i)²) / Σ r_i,
/// the ratio estimator (Cochran, Sampling Techniques, 3rd ed., eq. 6.13); of examples of one size the paired t interval (Student,
/// Biometrika 6 (1908) 1). It says nothing about other seeds or other data. Of one example, or of losses that are not finite,
/// low and high are −∞ and +∞.
struct LossGain {
  double won = 0, low = 0, high = 0;
  int examples = 0;
  /// Whether more was won than chance among the examples explains.
  bool significant() const { return low > 0; }
};

/// NaN without a common example; both are of the same examples.
LossGain loss_gain(const ExampleLosses& one, const ExampleLosses& other);

}  // namespace nudge
