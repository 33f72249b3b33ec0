// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/coupling.hpp"

#include "circuits/terms/shared_array.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
Matrix<S> coupling_matrix(const Matrix<S>& pattern, double symmetric, double antisymmetric) {
  NUDGE_EXPECT(pattern.rows() == pattern.cols());
  const S s = static_cast<S>(0.5 * (symmetric + antisymmetric));
  const S a = static_cast<S>(0.5 * (symmetric - antisymmetric));
  return s * pattern + a * pattern.transpose();
}

template <class S>
Coupling<S>::Coupling(Columns at)
    : pass_(SharedArray<S>::kProjections, at, SharedArray<S>::kState, {0, at.count}, S(1)) {}

template <class S>
TermTraits Coupling<S>::traits() const {
  TermTraits traits = pass_.traits();
  traits.name = "coupling";
  traits.keeps_points = true;
  return traits;
}

#define NUDGE_COUPLING(S)                                                  \
  template Matrix<S> coupling_matrix<S>(const Matrix<S>&, double, double); \
  template class Coupling<S>;
NUDGE_BOTH_PRECISIONS(NUDGE_COUPLING)

}  // namespace nudge
