// SPDX-License-Identifier: Apache-2.0
#include "circuits/digital_conductances.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// One pass over the weights: row i becomes change(i, row), and both sums are of what it became.
template <class S, class Change>
void renew(Matrix<S>& weights, WeightSums<S>& sums, const Change& change) {
  constexpr Index kRows = 32;  // some kilobytes, in L1 for both sums
  const Index cols = weights.cols();
  const Eigen::Matrix<S, Eigen::Dynamic, 1> ones = Eigen::Matrix<S, Eigen::Dynamic, 1>::Ones(cols);
  sums.of_columns.setZero(1, cols);
  sums.of_rows.resize(1, weights.rows());
  S* const columns = sums.of_columns.data();
  for (Index begin = 0; begin < weights.rows(); begin += kRows) {
    const Index count = std::min(kRows, weights.rows() - begin);
    for (Index i = begin; i < begin + count; ++i) {
      S* const row = weights.row(i).data();
      change(i, row);
      for (Index j = 0; j < cols; ++j) columns[j] += row[j];
    }
    sums.of_rows.row(0).segment(begin, count).transpose().noalias() = weights.middleRows(begin, count) * ones;
  }
}

}  // namespace

template <class S>
DigitalConductances<S>::DigitalConductances(Matrix<S> weights) : DigitalMatrix<S>(std::move(weights)) {
  state_restored();
}

template <class S>
void DigitalConductances<S>::apply_update(const Matrix<S>& delta, std::uint64_t step) {
  apply_scaled(delta, S(1), step);
}

template <class S>
void DigitalConductances<S>::apply_scaled(const Matrix<S>& direction, S scale, std::uint64_t /*step*/) {
  NUDGE_EXPECT(direction.rows() == this->inputs() && direction.cols() == this->outputs());
  renew<S>(this->values(), sums_, [&](Index i, S* row) {
    const S* change = direction.row(i).data();
    for (Index j = 0; j < direction.cols(); ++j) {
      const S next = row[j] + scale * change[j];
      row[j] = next < S(0) ? S(0) : next;  // what is not a number stays so and is noticed
    }
  });
}

template <class S>
void DigitalConductances<S>::program(const Matrix<S>& target) {
  DigitalMatrix<S>::program(target);
  state_restored();
}

template <class S>
void DigitalConductances<S>::state_restored() {
  renew<S>(this->values(), sums_, [](Index /*i*/, S* /*row*/) {});
}

template class DigitalConductances<float>;
template class DigitalConductances<double>;

}  // namespace nudge
