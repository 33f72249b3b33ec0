// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "circuits/crossbar/read_path.hpp"
#include "circuits/crossbar/wired_devices.hpp"
#include "circuits/linear_map.hpp"

namespace nudge {

/// The noise-free circuit of one or more crossbars read together, in double: what a read of the arrays would be without
/// fresh noise and rounding, Y(x) = Σ_b y_b(g_b x) − x Z with y_b the read of array b. Reads and their derivatives are exact,
/// so that settling, adjoints and central differences of it agree to rounding; conductances, loads and the drawn errors of
/// amplifiers are those of the moment it was made.
///
/// The parameter is what training moves, the net conductances of the first array's devices over k, at fixed loads of the
/// amplifiers: apply() moves devices, correlate() is the derivative with respect to them. With ideal wires they are the weights;
/// behind wires the weights are what the lines see of them, and follow by a solve (WiredDevices).
class CircuitMap final : public LinearMap<double> {
 public:
  struct Branch {
    LineView<double> view;
    ReadPath<double> path;
    double gain = 1;                           ///< g_b
    std::optional<WiredDevices> devices = {};  ///< behind wires; none: ideal wires
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
  MapTraits<double> traits() const override {
    return {
        .curved = true, .unit_heat_J = unit_heat_J_, .residue = residue_.of_columns.size() > 0 ? &residue_ : nullptr};
  }
  std::unique_ptr<LinearMap<double>> noise_free() const override { return std::make_unique<CircuitMap>(*this); }
  void apply(const WeightUpdate<double>& update) override;
  /// Moves the devices of the first array by what is missing: W = target with ideal wires.
  void program(const Matrix<double>& target) override;
  const Matrix<double>& weights() const override { return weights_; }
  std::vector<StateArray<double>> state() override;
  void state_restored() override { sum_weights(); }
  void set_unit_heat_J(double joules) { unit_heat_J_ = joules; }
  void set_residue(WeightSums<double> residue) { residue_ = std::move(residue); }

 private:
  void move(const Matrix<double>& delta);
  void sum_weights();
  void subtract(ReadDirection way, ConstMatrixRef<double> x, MatrixRef<double> out, Columns columns, Store store) const;

  double unit_heat_J_ = 0;
  WeightSums<double> residue_;  ///< empty: driven one way at a time
  std::vector<Branch> branches_;
  Matrix<double> subtracted_;
  Matrix<double> weights_;  ///< of all branches together
};

}  // namespace nudge
