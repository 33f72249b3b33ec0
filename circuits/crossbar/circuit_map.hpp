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

  void read(ReadDirection way, ConstMatrixRef<double> x, MatrixRef<double> out, Columns columns, Store store,
            ReadContext& context) const override;
  void derivative(ReadDirection way, Derivative which, ConstMatrixRef<double> x0, ConstMatrixRef<double> v,
                  MatrixRef<double> out, Columns columns, Store store, ReadContext& context) const override;
  void correlate(ReadDirection way, ConstMatrixRef<double> x0, ConstMatrixRef<double> u, Columns columns, double scale,
                 int parameter, GradientSink<double>& sink, const ReadContext& context) const override;
  /// The heat is that of the array which it stands for.
  MapTraits<double> traits() const override { return {.curved = true, .unit_heat_J = unit_heat_J_}; }
  std::unique_ptr<LinearMap<double>> noise_free() const override { return std::make_unique<CircuitMap>(*this); }
  void apply(const WeightUpdate<double>& update) override;
  /// Exactly: the first array takes what the others do not hold.
  void program(const Matrix<double>& target) override;
  const Matrix<double>& weights() const override { return weights_; }
  std::vector<StateArray<double>> state() override;
  void set_unit_heat_J(double joules) { unit_heat_J_ = joules; }

 private:
  void subtract(ReadDirection way, ConstMatrixRef<double> x, MatrixRef<double> out, Columns columns, Store store) const;

  double unit_heat_J_ = 0;
  std::vector<Branch> branches_;
  Matrix<double> subtracted_;
  Matrix<double> weights_;          ///< of all branches together
  Matrix<double> backward_excess_;  ///< of the first branch: backward − weights; empty where both are one
};

}  // namespace nudge
