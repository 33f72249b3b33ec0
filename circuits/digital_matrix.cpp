// SPDX-License-Identifier: Apache-2.0
#include "circuits/digital_matrix.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void DigitalMatrix<S>::read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
                            ReadContext& context) const {
  NUDGE_EXPECT(columns.begin >= 0 && columns.end() <= this->outputs());
  ++context.read;
  const auto w = weights_.middleCols(columns.begin, columns.count);
  if (way == ReadDirection::forward) {
    multiply<S>(x, w, out, store);
  } else {
    multiply_transposed<S>(x, w, out, store);
  }
}

template <class S>
void DigitalMatrix<S>::apply(const WeightUpdate<S>& update) {
  if (update.direction != nullptr) {
    NUDGE_EXPECT(update.direction->rows() == this->inputs() && update.direction->cols() == this->outputs());
    weights_ += update.scale * *update.direction;
    return;
  }
  for (const FactorPair<S>& f : update.factors) {
    NUDGE_EXPECT(f.columns.begin >= 0 && f.columns.end() <= this->outputs());
    multiply_outer<S>(f.x, f.y, update.scale * f.scale, weights_.middleCols(f.columns.begin, f.columns.count),
                      Store::add);
  }
}

template <class S>
void DigitalMatrix<S>::program(const Matrix<S>& target) {
  NUDGE_EXPECT(target.rows() == this->inputs() && target.cols() == this->outputs());
  weights_ = target;
}

template <class S>
std::unique_ptr<LinearMap<double>> DigitalMatrix<S>::noise_free() const {
  return std::make_unique<DigitalMatrix<double>>(weights_.template cast<double>(), unit_heat_J_);
}

template <class S>
std::vector<StateArray<S>> DigitalMatrix<S>::state() {
  return {{"weights", "1", "weight matrix (inputs, outputs)", &weights_}};
}

template class DigitalMatrix<float>;
template class DigitalMatrix<double>;

}  // namespace nudge
