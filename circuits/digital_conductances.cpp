// SPDX-License-Identifier: Apache-2.0
#include "circuits/digital_conductances.hpp"

#include <utility>

#include "circuits/conductance_pass.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Conductances as they are.
template <class S>
struct Kept {
  template <int Lanes>
  auto at(Index /*j*/) const {
    return [](Index /*i*/, const Eigen::Array<S, Lanes, 1>& g) { return g; };
  }
};

template <class S>
struct Floored {
  template <int Lanes>
  auto at(Index /*j*/) const {
    return [](Index /*i*/, const Eigen::Array<S, Lanes, 1>& g) { return at_least_zero(g); };
  }
};

/// g_ij ← max(0, g_ij + scale d_ij).
template <class S>
struct Stepped {
  const Matrix<S>* direction;
  S scale;
  template <int Lanes>
  auto at(Index j) const {
    using Numbers = Eigen::Array<S, Lanes, 1>;
    return [d = direction->data() + j, stride = direction->cols(), by = scale](Index i, const Numbers& g) {
      return at_least_zero(Numbers(g + by * Eigen::Map<const Numbers>(d + i * stride)));
    };
  }
};

template <class S, class Change>
void renew(Matrix<S>& weights, WeightSums<S>& sums, const Change& change) {
  sums.of_columns.resize(1, weights.cols());
  sums.of_rows.resize(1, weights.rows());
  pass_conductances<PassSums::rows_and_columns>(weights, change, sums.of_rows.data(), sums.of_columns.data());
}

}  // namespace

template <class S>
DigitalConductances<S>::DigitalConductances(Matrix<S> weights) : DigitalMatrix<S>(std::move(weights)) {
  state_restored();
}

template <class S>
void DigitalConductances<S>::apply(const WeightUpdate<S>& update) {
  if (update.direction != nullptr) {
    NUDGE_EXPECT(update.direction->rows() == this->inputs() && update.direction->cols() == this->outputs());
    return renew(this->values(), sums_, Stepped<S>{update.direction, update.scale});
  }
  DigitalMatrix<S>::apply(update);
  renew(this->values(), sums_, Floored<S>{});
}

template <class S>
void DigitalConductances<S>::program(const Matrix<S>& target) {
  DigitalMatrix<S>::program(target);
  state_restored();
}

template <class S>
void DigitalConductances<S>::state_restored() {
  renew(this->values(), sums_, Kept<S>{});
}

template class DigitalConductances<float>;
template class DigitalConductances<double>;

}  // namespace nudge
