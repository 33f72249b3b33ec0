// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// y_j = (x_j − offset_j) · gain_j, with numbers taken from the training part alone.
///   none      y = x
///   unit      one range for all columns: the training part's smallest number becomes 0 and its largest 1 (pictures: the
///             pixels keep their relation)
///   unit_each the same for each column by itself
///   standard  each column has mean 0 and standard deviation 1 (divisor n) on the training part
/// A column that is constant in training is only shifted (gain 1). Held-out numbers may leave the range; nothing is clipped.
class FeatureScaling {
 public:
  /// Of `columns` columns left as they are.
  explicit FeatureScaling(Index columns = 0);
  /// Fitted to the training part; kind is one of scaling_names().
  FeatureScaling(const std::string& kind, const Matrix<float>& training);

  void apply(Matrix<float>& x) const;
  /// Back to the units of the file.
  void undo(Matrix<float>& y) const;

  const std::vector<double>& offset() const { return offset_; }
  const std::vector<double>& gain() const { return gain_; }

 private:
  std::vector<double> offset_, gain_;
};

const std::vector<std::string>& scaling_names();

}  // namespace nudge
