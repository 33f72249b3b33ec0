// SPDX-License-Identifier: Apache-2.0
#include "circuits/digital_matrix.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void DigitalMatrix<S>::forward(ConstMatrixRef<S> x, MatrixRef<S> y, Columns columns, Store store,
                               ReadContext& read) const {
  NUDGE_EXPECT(columns.begin >= 0 && columns.end() <= outputs());
  ++read.read;
  multiply<S>(x, weights_.middleCols(columns.begin, columns.count), y, store);
}

template <class S>
void DigitalMatrix<S>::transposed(ConstMatrixRef<S> y, MatrixRef<S> x, Columns columns, Store store,
                                  ReadContext& read) const {
  NUDGE_EXPECT(columns.begin >= 0 && columns.end() <= outputs());
  ++read.read;
  multiply_transposed<S>(y, weights_.middleCols(columns.begin, columns.count), x, store);
}

template <class S>
void DigitalMatrix<S>::apply_update(const Matrix<S>& delta, std::uint64_t /*step*/) {
  NUDGE_EXPECT(delta.rows() == inputs() && delta.cols() == outputs());
  weights_ += delta;
}

template <class S>
void DigitalMatrix<S>::apply_scaled(const Matrix<S>& direction, S scale, std::uint64_t /*step*/) {
  NUDGE_EXPECT(direction.rows() == inputs() && direction.cols() == outputs());
  weights_ += scale * direction;
}

template <class S>
void DigitalMatrix<S>::apply_factors(const std::vector<FactorPair<S>>& factors, S rate) {
  for (const FactorPair<S>& f : factors) {
    NUDGE_EXPECT(f.columns.begin >= 0 && f.columns.end() <= outputs());
    multiply_outer<S>(f.x, f.y, -rate * f.scale, weights_.middleCols(f.columns.begin, f.columns.count), Store::add);
  }
}

template <class S>
void DigitalMatrix<S>::program(const Matrix<S>& target) {
  NUDGE_EXPECT(target.rows() == inputs() && target.cols() == outputs());
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
