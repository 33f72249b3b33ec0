// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/digital_matrix.hpp"
#include "circuits/kept_state.hpp"
#include "circuits/terms/causal_attention.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "circuits/terms/shared_array.hpp"
#include "tests/support/numerics.hpp"

namespace nudge::test {

/// Makes a circuit of one node, clamped to the input and damped. place(array) puts terms behind a shared array
/// (parameter number `parameter`); `others` stand before it. The founding note's block is such a circuit.
template <class S, class Place>
Circuit<S> one_node_circuit(Index channels, Place place, int parameter, const LinearMap<S>& map, Damping damping,
                            std::vector<std::unique_ptr<Term<S>>> others = {}) {
  auto array = std::make_unique<SharedArray<S>>(0, Columns{0, channels}, parameter, map);
  place(*array);
  others.push_back(std::move(array));
  return Circuit<S>({{"z", {0, channels}, 1.0, true, true}}, channels, std::move(others), damping);
}

struct BlockSize {
  Index tokens = 5;
  Index channels = 6;
  Index heads = 2;     ///< attention heads; 0: no attention
  Index memories = 9;  ///< memories; 0: no memory
  double gain = 0.8;
  double damping = 0.7;
  Index copies = 4;
  std::uint64_t seed = 1;
};

/// Block on digital matrices, and its dynamics bound to a random drive. Weights and drive are drawn in double and cast,
/// so that float and double are the same block. Attention weights have variance 1/C; the spectral norm of W_m is about
/// 0.4, so that 2‖W_m‖² stays well below the clamp and damping. Input columns: [W_q | W_k | W_v | W_m], parameter 0;
/// W_o is parameter 1.
template <class S>
class TinyBlock {
 public:
  explicit TinyBlock(const BlockSize& size)
      : input(input_weights(size)),
        output(random_matrix<double>(size.channels, size.channels, size.seed + 100, 1.0 / root(size.channels))
                   .template cast<S>()),
        drive(random_matrix<double>(size.tokens, size.channels, size.seed + 200).template cast<S>()),
        block(one_node_circuit<S>(size.channels, [&](SharedArray<S>& array) { place(array, size, output); }, 0, input,
                                  {size.gain, size.damping})),
        dynamics(block, size.tokens, size.copies) {
    dynamics.bind(drive, ReadContext{});
  }

  DigitalMatrix<S> input, output;
  Matrix<S> drive;
  Circuit<S> block;
  CircuitDynamics<S> dynamics;

 private:
  static double root(Index n) { return std::sqrt(static_cast<double>(n)); }

  static Matrix<S> input_weights(const BlockSize& size) {
    const Index attention = size.heads > 0 ? 3 * size.channels : 0;
    Matrix<double> w =
        random_matrix<double>(size.channels, attention + size.memories, size.seed, 1.0 / root(size.channels));
    // The spectral norm of a C by M normal matrix is about √C + √M.
    w.rightCols(size.memories) *= 0.4 * root(size.channels) / (root(size.channels) + root(size.memories));
    return w.template cast<S>();
  }

  static void place(SharedArray<S>& array, const BlockSize& size, const LinearMap<S>& output) {
    if (size.heads > 0) {
      array.template place<CausalAttention<S>>(3 * size.channels, size.heads, static_cast<S>(size.gain), 1, output);
    }
    if (size.memories > 0) array.template place<HopfieldMemory<S>>(size.memories);
  }
};

/// Sums contributions per parameter; parameter p starts as zeros of the shape of maps[p].
template <class S>
class SummingSink final : public GradientSink<S> {
 public:
  explicit SummingSink(const std::vector<const LinearMap<S>*>& maps) {
    for (const LinearMap<S>* map : maps) sums.push_back(Matrix<S>::Zero(map->inputs(), map->outputs()));
  }
  void accumulate(int parameter, Columns columns, S scale, ConstMatrixRef<S> x, ConstMatrixRef<S> y) override {
    sums[static_cast<std::size_t>(parameter)].middleCols(columns.begin, columns.count) += scale * x.transpose() * y;
  }
  void accumulate(int parameter, S scale, ConstMatrixRef<S> gradient) override {
    sums[static_cast<std::size_t>(parameter)] += scale * gradient;
  }
  std::vector<Matrix<S>> sums;
};

/// Computes ∂value/∂W for every entry of a map by central differences with step h.
template <class S, class Value>
Matrix<double> difference_quotients(LinearMap<S>& map, double h, Value value) {
  const Matrix<S> weights = map.weights();
  Matrix<double> quotients(weights.rows(), weights.cols());
  for (Index i = 0; i < weights.rows(); ++i) {
    for (Index j = 0; j < weights.cols(); ++j) {
      Matrix<S> moved = weights;
      moved(i, j) = weights(i, j) + static_cast<S>(h);
      map.program(moved);
      const double ahead = value();
      moved(i, j) = weights(i, j) - static_cast<S>(h);
      map.program(moved);
      quotients(i, j) = (ahead - value()) / (2 * h);
    }
  }
  map.program(weights);
  return quotients;
}

/// Computes ∂value/∂Δ by central differences, with Δ the change of an entry that apply_update() makes, in devices
/// behind wires. Every move starts from the state as it is.
template <class Value>
Matrix<double> update_quotients(LinearMap<double>& map, double h, Value value) {
  KeptState<double> before(map);
  Matrix<double> quotients(map.inputs(), map.outputs());
  for (Index i = 0; i < quotients.size(); ++i) {
    Matrix<double> change = Matrix<double>::Zero(map.inputs(), map.outputs());
    const auto moved = [&](double by) {
      change.data()[i] = by;
      map.apply_update(change);
      const double v = value();
      before.restore();
      return v;
    };
    quotients.data()[i] = (moved(h) - moved(-h)) / (2 * h);
  }
  return quotients;
}

/// Computes the dense Jacobian of the chosen terms, column by column from jvp, on states flattened row by row.
template <class S>
Matrix<S> dense_jacobian(Linearization<S>& linearization, Index rows, Index cols, Part part = Part::all) {
  const Index n = rows * cols;
  Matrix<S> jacobian(n, n);
  Matrix<S> unit = Matrix<S>::Zero(rows, cols);
  Matrix<S> out(rows, cols);
  for (Index i = 0; i < n; ++i) {
    unit.data()[i] = S(1);
    linearization.jvp(unit, out, part);
    unit.data()[i] = S(0);
    jacobian.col(i) = Eigen::Map<const Eigen::Matrix<S, Eigen::Dynamic, 1>>(out.data(), n);
  }
  return jacobian;
}

}  // namespace nudge::test
