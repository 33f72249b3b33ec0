// SPDX-License-Identifier: Apache-2.0
#include "training/check/gradient_agreement.hpp"

#include <cmath>
#include <limits>

namespace nudge {
namespace {

/// The sums that the three measures are made of; they add up over groups.
struct Sums {
  double product = 0, estimate = 0, reference = 0, difference = 0, agreeing = 0, counted = 0;

  template <class S>
  void add(ConstMatrixRef<S> g, ConstMatrixRef<S> r) {
    for (Index i = 0; i < g.rows(); ++i) {
      for (Index j = 0; j < g.cols(); ++j) {
        const double a = static_cast<double>(g(i, j));
        const double b = static_cast<double>(r(i, j));
        product += a * b;
        estimate += a * a;
        reference += b * b;
        difference += (a - b) * (a - b);
        counted += b != 0 ? 1 : 0;
        agreeing += b != 0 && a * b > 0 ? 1 : 0;
      }
    }
  }

  /// `rounding`: the norm up to which the reference is no gradient.
  Agreement result(double rounding, double whole_norm) const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(estimate) || !std::isfinite(reference)) return {nan, nan, nan, true};
    if (std::sqrt(reference) <= rounding) {
      const double scale = whole_norm > 0 ? whole_norm : 1.0;
      return {nan, difference > 0 ? std::sqrt(difference) / scale : 0.0, nan, false};
    }
    const double cosine = estimate > 0 ? product / std::sqrt(estimate) / std::sqrt(reference) : 0.0;
    return {cosine, std::sqrt(difference / reference), agreeing / counted, true};
  }
};

}  // namespace

template <class S>
Agreement agreement(ConstMatrixRef<S> estimate, ConstMatrixRef<S> reference, double whole_norm) {
  Sums sums;
  sums.add<S>(estimate, reference);
  return sums.result(10 * static_cast<double>(std::numeric_limits<S>::epsilon()) * whole_norm, whole_norm);
}

template <class S>
Agreement agreement(const Gradient<S>& estimate, const Gradient<S>& reference,
                    const std::vector<ParameterGroup>& groups) {
  Sums sums;
  for (const auto& group : groups) {
    sums.add<S>(estimate[group.parameter].middleCols(group.columns.begin, group.columns.count),
                reference[group.parameter].middleCols(group.columns.begin, group.columns.count));
  }
  const double whole_norm = reference.norm();
  return sums.result(10 * static_cast<double>(std::numeric_limits<S>::epsilon()) * whole_norm, whole_norm);
}

#define NUDGE_INSTANTIATE(S)                                                     \
  template Agreement agreement<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, double); \
  template Agreement agreement<S>(const Gradient<S>&, const Gradient<S>&, const std::vector<ParameterGroup>&);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
