// SPDX-License-Identifier: Apache-2.0
#include "training/data/feature_scaling.hpp"

#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"

namespace nudge {

const std::vector<std::string>& scaling_names() {
  static const std::vector<std::string> names = {"none", "unit", "unit_each", "standard"};
  return names;
}

FeatureScaling::FeatureScaling(Index columns)
    : offset_(static_cast<std::size_t>(columns), 0.0), gain_(static_cast<std::size_t>(columns), 1.0) {}

FeatureScaling::FeatureScaling(const std::string& kind, const Matrix<float>& training)
    : FeatureScaling(training.cols()) {
  NUDGE_EXPECT(training.size() > 0);
  if (kind == "none") return;
  const auto smallest = static_cast<double>(training.minCoeff()), largest = static_cast<double>(training.maxCoeff());
  for (Index j = 0; j < training.cols(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const auto column = training.col(j).cast<double>();
    const double low = kind == "unit" ? smallest : column.minCoeff();
    const double high = kind == "unit" ? largest : column.maxCoeff();
    offset_[at] = kind == "standard" && high > low ? column.mean() : low;
    if (high == low) continue;
    gain_[at] = 1 / (kind == "standard" ? std::sqrt((column.array() - offset_[at]).square().mean()) : high - low);
  }
}

void FeatureScaling::apply(Matrix<float>& x) const {
  NUDGE_EXPECT(static_cast<std::size_t>(x.cols()) == gain_.size());
  for (Index i = 0; i < x.rows(); ++i) {
    stop_point();
    for (Index j = 0; j < x.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      x(i, j) = static_cast<float>((static_cast<double>(x(i, j)) - offset_[at]) * gain_[at]);
    }
  }
}

void FeatureScaling::undo(Matrix<float>& y) const {
  NUDGE_EXPECT(static_cast<std::size_t>(y.cols()) == gain_.size());
  for (Index i = 0; i < y.rows(); ++i) {
    for (Index j = 0; j < y.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      y(i, j) = static_cast<float>(static_cast<double>(y(i, j)) / gain_[at] + offset_[at]);
    }
  }
}

}  // namespace nudge
