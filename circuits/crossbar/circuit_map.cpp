// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/circuit_map.hpp"

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

Store opposite(Store store) { return store == Store::subtract ? Store::add : Store::subtract; }
Store after_first(Store store) { return store == Store::subtract ? Store::subtract : Store::add; }

}  // namespace

CircuitMap::CircuitMap(std::vector<Branch> branches, Matrix<double> subtracted)
    : branches_(std::move(branches)), subtracted_(std::move(subtracted)) {
  NUDGE_EXPECT(!branches_.empty());
  const LineView<double>& first = branches_.front().view;
  if (first.backward.size() > 0) backward_excess_ = first.backward - first.weights;
  weights_ = Matrix<double>::Zero(first.weights.rows(), first.weights.cols());
  for (const Branch& branch : branches_) weights_ += branch.gain * branch.view.weights;
  if (subtracted_.size() > 0) weights_ -= subtracted_;
}

void CircuitMap::program(const Matrix<double>& target) {
  NUDGE_EXPECT(target.rows() == inputs() && target.cols() == outputs());
  LineView<double>& first = branches_.front().view;
  first.weights += (target - weights_) / branches_.front().gain;
  if (backward_excess_.size() > 0) first.backward = first.weights + backward_excess_;
  weights_ = target;
}

void CircuitMap::apply_update(const Matrix<double>& delta, std::uint64_t /*step*/) { program(weights_ + delta); }

void CircuitMap::forward(ConstMatrixRef<double> x, MatrixRef<double> y, Columns columns, Store store,
                         ReadContext& read) const {
  for (const Branch& b : branches_) {
    const Store how = &b == &branches_.front() ? store : after_first(store);
    if (b.gain == 1) {
      b.path.read(ReadDirection::forward, b.view, x, y, columns, how, read);
    } else {
      const Matrix<double> driven = b.gain * x;
      b.path.read(ReadDirection::forward, b.view, driven, y, columns, how, read);
    }
  }
  if (subtracted_.size() == 0) return;
  multiply<double>(x, subtracted_.middleCols(columns.begin, columns.count), y, opposite(store));
}

void CircuitMap::transposed(ConstMatrixRef<double> y, MatrixRef<double> x, Columns columns, Store store,
                            ReadContext& read) const {
  for (const Branch& b : branches_) {
    const Store how = &b == &branches_.front() ? store : after_first(store);
    if (b.gain == 1) {
      b.path.read(ReadDirection::transposed, b.view, y, x, columns, how, read);
    } else {
      const Matrix<double> driven = b.gain * y;
      b.path.read(ReadDirection::transposed, b.view, driven, x, columns, how, read);
    }
  }
  if (subtracted_.size() == 0) return;
  multiply_transposed<double>(y, subtracted_.middleCols(columns.begin, columns.count), x, opposite(store));
}

void CircuitMap::derivative(Way way, ConstMatrixRef<double> at, ConstMatrixRef<double> v, MatrixRef<double> out,
                            Columns columns, Store store) const {
  const bool of_forward = way == Way::forward_jvp || way == Way::forward_vjp;
  const ReadDirection direction = of_forward ? ReadDirection::forward : ReadDirection::transposed;
  const bool jvp = way == Way::forward_jvp || way == Way::transposed_jvp;
  for (const Branch& b : branches_) {
    const Store how = &b == &branches_.front() ? store : after_first(store);
    const Matrix<double> point = b.gain * at;
    const Matrix<double> scaled = b.gain * v;  // the chain rule's factor, on whichever side
    if (jvp) {
      b.path.jvp(direction, b.view, point, scaled, out, columns, how);
    } else {
      b.path.vjp(direction, b.view, point, scaled, out, columns, how);
    }
  }
  if (subtracted_.size() == 0) return;
  const auto z = subtracted_.middleCols(columns.begin, columns.count);
  if (way == Way::forward_jvp || way == Way::transposed_vjp) {
    multiply<double>(v, z, out, opposite(store));
  } else {
    multiply_transposed<double>(v, z, out, opposite(store));
  }
}

void CircuitMap::forward_jvp(ConstMatrixRef<double> x0, ConstMatrixRef<double> v, MatrixRef<double> y, Columns columns,
                             Store store, ReadContext& /*read*/) const {
  derivative(Way::forward_jvp, x0, v, y, columns, store);
}

void CircuitMap::forward_vjp(ConstMatrixRef<double> x0, ConstMatrixRef<double> u, MatrixRef<double> x, Columns columns,
                             Store store, ReadContext& /*read*/) const {
  derivative(Way::forward_vjp, x0, u, x, columns, store);
}

void CircuitMap::transposed_jvp(ConstMatrixRef<double> y0, ConstMatrixRef<double> v, MatrixRef<double> x,
                                Columns columns, Store store, ReadContext& /*read*/) const {
  derivative(Way::transposed_jvp, y0, v, x, columns, store);
}

void CircuitMap::transposed_vjp(ConstMatrixRef<double> y0, ConstMatrixRef<double> u, MatrixRef<double> y,
                                Columns columns, Store store, ReadContext& /*read*/) const {
  derivative(Way::transposed_vjp, y0, u, y, columns, store);
}

void CircuitMap::correlate_forward(ConstMatrixRef<double> x0, ConstMatrixRef<double> u, Columns columns, double scale,
                                   int parameter, GradientSink<double>& sink, const ReadContext& /*read*/) const {
  const Branch& b = branches_.front();
  Matrix<double> p, slope_u;
  b.path.factors(ReadDirection::forward, b.view, x0, u, columns, p, slope_u);
  sink.accumulate(parameter, columns, scale, p, slope_u);
}

void CircuitMap::correlate_transposed(ConstMatrixRef<double> y0, ConstMatrixRef<double> u, Columns columns,
                                      double scale, int parameter, GradientSink<double>& sink,
                                      const ReadContext& /*read*/) const {
  const Branch& b = branches_.front();
  Matrix<double> p, slope_u;
  b.path.factors(ReadDirection::transposed, b.view, y0, u, columns, p, slope_u);
  sink.accumulate(parameter, columns, scale, slope_u, p);
}

std::vector<StateArray<double>> CircuitMap::state() {
  return {{"weights", "1", "net conductance over k that the lines see (inputs, outputs)", &weights_}};
}

}  // namespace nudge
