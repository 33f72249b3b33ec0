// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "circuits/crossbar/read_path.hpp"
#include "circuits/linear_map.hpp"

namespace nudge {

/// The noise-free circuit of one or more crossbars read together, in double: what a read of the arrays would be without
/// fresh noise and rounding, Y(x) = Σ_b y_b(g_b x) − x Z with y_b the read of array b. Reads and their derivatives are exact,
/// so that settling, adjoints and central differences of it agree to rounding; conductances, loads and the drawn errors of
/// amplifiers are those of the moment it was made. Its weights are those of the first array, the only ones that move: the
/// derivative is taken with respect to the conductance differences that the lines see, G/k with wires included, at
/// fixed loads.
class CircuitMap final : public LinearMap<double> {
 public:
  struct Branch {
    LineView<double> view;
    ReadPath<double> path;
    double gain = 1;  ///< g_b
  };

  /// At least one branch; subtracted: Z (inputs, outputs), or empty.
  explicit CircuitMap(std::vector<Branch> branches, Matrix<double> subtracted = {});

  Index inputs() const override { return weights_.rows(); }
  Index outputs() const override { return weights_.cols(); }
  void forward(ConstMatrixRef<double> x, MatrixRef<double> y, Columns columns, Store store,
               ReadContext& read) const override;
  void transposed(ConstMatrixRef<double> y, MatrixRef<double> x, Columns columns, Store store,
                  ReadContext& read) const override;
  void forward_jvp(ConstMatrixRef<double> x0, ConstMatrixRef<double> v, MatrixRef<double> y, Columns columns,
                   Store store, ReadContext& read) const override;
  void forward_vjp(ConstMatrixRef<double> x0, ConstMatrixRef<double> u, MatrixRef<double> x, Columns columns,
                   Store store, ReadContext& read) const override;
  void transposed_jvp(ConstMatrixRef<double> y0, ConstMatrixRef<double> v, MatrixRef<double> x, Columns columns,
                      Store store, ReadContext& read) const override;
  void transposed_vjp(ConstMatrixRef<double> y0, ConstMatrixRef<double> u, MatrixRef<double> y, Columns columns,
                      Store store, ReadContext& read) const override;
  void correlate_forward(ConstMatrixRef<double> x0, ConstMatrixRef<double> u, Columns columns, double scale,
                         int parameter, GradientSink<double>& sink, const ReadContext& read) const override;
  void correlate_transposed(ConstMatrixRef<double> y0, ConstMatrixRef<double> u, Columns columns, double scale,
                            int parameter, GradientSink<double>& sink, const ReadContext& read) const override;
  bool curved() const override { return true; }
  std::unique_ptr<LinearMap<double>> noise_free() const override { return std::make_unique<CircuitMap>(*this); }
  void apply_update(const Matrix<double>& delta, std::uint64_t step) override;
  /// Exactly: the first array takes what the others do not hold.
  void program(const Matrix<double>& target) override;
  const Matrix<double>& weights() const override { return weights_; }
  std::vector<StateArray<double>> state() override;
  /// That of the array which it stands for.
  double unit_heat_J() const override { return unit_heat_J_; }
  void set_unit_heat_J(double joules) { unit_heat_J_ = joules; }

 private:
  enum class Way { forward_jvp, forward_vjp, transposed_jvp, transposed_vjp };
  void derivative(Way way, ConstMatrixRef<double> at, ConstMatrixRef<double> v, MatrixRef<double> out, Columns columns,
                  Store store) const;

  double unit_heat_J_ = 0;
  std::vector<Branch> branches_;
  Matrix<double> subtracted_;
  Matrix<double> weights_;          ///< of all branches together
  Matrix<double> backward_excess_;  ///< of the first branch: backward − weights; empty where both are one
};

}  // namespace nudge
