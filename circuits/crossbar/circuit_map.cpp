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

void CircuitMap::apply(const WeightUpdate<double>& update) {
  NUDGE_EXPECT(update.direction != nullptr);
  program(weights_ + update.delta());
}

/// What is read of −Z.
void CircuitMap::subtract(ReadDirection way, ConstMatrixRef<double> x, MatrixRef<double> out, Columns columns,
                          Store store) const {
  if (subtracted_.size() == 0) return;
  const auto z = subtracted_.middleCols(columns.begin, columns.count);
  if (way == ReadDirection::forward) {
    multiply<double>(x, z, out, opposite(store));
  } else {
    multiply_transposed<double>(x, z, out, opposite(store));
  }
}

void CircuitMap::read(ReadDirection way, ConstMatrixRef<double> x, MatrixRef<double> out, Columns columns, Store store,
                      ReadContext& context) const {
  for (const Branch& b : branches_) {
    const Store how = &b == &branches_.front() ? store : after_first(store);
    if (b.gain == 1) {
      b.path.read(way, b.view, x, out, columns, how, context);
    } else {
      const Matrix<double> driven = b.gain * x;
      b.path.read(way, b.view, driven, out, columns, how, context);
    }
  }
  subtract(way, x, out, columns, store);
}

void CircuitMap::derivative(ReadDirection way, Derivative which, ConstMatrixRef<double> x0, ConstMatrixRef<double> v,
                            MatrixRef<double> out, Columns columns, Store store, ReadContext& /*context*/) const {
  for (const Branch& b : branches_) {
    const Store how = &b == &branches_.front() ? store : after_first(store);
    const Matrix<double> point = b.gain * x0;
    const Matrix<double> scaled = b.gain * v;  // the chain rule's factor, on whichever side
    b.path.derivative(way, which, b.view, point, scaled, out, columns, how);
  }
  subtract(way_of(way, which), v, out, columns, store);
}

void CircuitMap::correlate(ReadDirection way, ConstMatrixRef<double> x0, ConstMatrixRef<double> u, Columns columns,
                           double scale, int parameter, GradientSink<double>& sink,
                           const ReadContext& /*context*/) const {
  const Branch& first = branches_.front();
  first.path.correlate(way, first.view, x0, u, columns, scale, parameter, sink);
}

std::vector<StateArray<double>> CircuitMap::state() {
  return {{"weights", "1", "net conductance over k that the lines see (inputs, outputs)", &weights_}};
}

}  // namespace nudge
