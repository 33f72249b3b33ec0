// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reference/case_kind.hpp"
#include "reference/hopnet_problem.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

/// What a dataset's error comes from: the rows of the tolerances of NETWORKS.md, section 1.6.
enum class HopnetError {
  point,           ///< one evaluation at a given point
  euler,           ///< Euler states and what is taken there
  fixed_point,     ///< exact fixed points and what is taken there
  exact,           ///< a linear solve there, or backprop through the steps
  nudged,          ///< divided by 2β at exact fixed points
  euler_gradient,  ///< divided by 2β at Euler states
};

/// Collects the computed datasets of a case, with their shapes and tolerances.
class HopnetWriter {
 public:
  explicit HopnetWriter(const HopnetProblem& problem) : p_(&problem) {}

  /// [B, cols], or of any other shape with as many numbers.
  void rows(const std::string& name, const Matrix<double>& values, HopnetError error);
  void values(const std::string& name, const H5Shape& shape, std::vector<double> values, HopnetError error);
  /// A group with a dataset per parameter, but for Wo and bo where `readout` is false.
  void parameters(const std::string& name, const Gradient<double>& gradient, HopnetError error, bool readout = true);

  std::vector<CaseDataset> take() { return std::move(all_); }

 private:
  double tolerance(HopnetError error) const;

  const HopnetProblem* p_;
  std::vector<CaseDataset> all_;
};

}  // namespace nudge
