// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "circuits/crossbar/mapping.hpp"
#include "circuits/crossbar/periphery_spec.hpp"
#include "circuits/crossbar/read_path.hpp"
#include "circuits/linear_map.hpp"
#include "circuits/wires/tiled_array.hpp"

namespace nudge {

/// Devices of one array and the wires that they are read through, in double, from which the weights of a noise-free circuit
/// are made. Its parameter is w, the net conductance of a weight's devices over k, as training moves it. Each device of a
/// pair takes half of a change, a single device all; reference devices stand still. The lines see another matrix, W(w).
class WiredDevices {
 public:
  struct Circuit {
    MappingKind mapping = MappingKind::differential;
    double middle_S = 0;
    double siemens_per_weight = 1;  ///< k
    WireSpec wires;
    TileSpec tiles;
    TransposedPath path = TransposedPath::same_ends;
  };

  /// Takes conductances as Mapping has them: (N, M), and (N, M), (N, 1) or (N, 0).
  WiredDevices(const Circuit& circuit, Matrix<double> first_S, Matrix<double> second_S);

  /// Moves w ← w + delta, beyond any bounds of the devices.
  void move(const Matrix<double>& delta);

  /// Solves the wires for the view of the lines: view.weights, and view.backward where transposed reads have ends of their own.
  void see(LineView<double>& view) const;

  /// Gradient ∂/∂w of Σ_n x_n W yᵀ_n, W as reads of that direction see it: x (n, N), y (n, columns.count), result (N, M).
  Matrix<double> gradient(ReadDirection way, ConstMatrixRef<double> x, ConstMatrixRef<double> y, Columns columns) const;

  std::vector<StateArray<double>> state();

 private:
  Matrix<double> seen(PathEnds ends) const;

  Circuit circuit_;
  Matrix<double> first_, second_;
};

/// Noise-free circuit of one or more crossbars read together, in double. It reads the arrays without fresh noise and rounding:
/// Y(x) = Σ_b y_b(g_b x) − x Z with y_b the read of array b. Reads and their derivatives are exact, so that settling, adjoints and
/// central differences of it agree to rounding. It keeps the conductances, loads and drawn errors of the moment it was made.
///
/// The parameter is the net conductances of the first array's devices over k, as training moves them. Loads of the amplifiers
/// are fixed. apply() moves devices, correlate() is the derivative with respect to them. With ideal wires they are the
/// weights. Behind wires the weights are what the lines see of them, and follow by a solve (WiredDevices).
class CircuitMap final : public LinearMap<double> {
 public:
  struct Branch {
    LineView<double> view;
    ReadPath<double> path;
    double gain = 1;                           ///< g_b
    std::optional<WiredDevices> devices = {};  ///< devices behind wires; none: ideal wires
  };

  /// Makes the circuit of at least one branch; subtracted: Z (inputs, outputs), or empty.
  explicit CircuitMap(std::vector<Branch> branches, Matrix<double> subtracted = {});

  void read(ReadDirection way, ConstMatrixRef<double> x, MatrixRef<double> out, Columns columns, Store store,
            ReadContext& context) const override;
  void derivative(ReadDirection way, Derivative which, ConstMatrixRef<double> x0, ConstMatrixRef<double> v,
                  MatrixRef<double> out, Columns columns, Store store, ReadContext& context) const override;
  void correlate(ReadDirection way, ConstMatrixRef<double> x0, ConstMatrixRef<double> u, Columns columns, double scale,
                 int parameter, GradientSink<double>& sink, const ReadContext& context) const override;
  /// Traits, with the heat of the array that it stands for.
  MapTraits<double> traits() const override {
    return {
        .curved = true, .unit_heat_J = unit_heat_J_, .residue = residue_.of_columns.size() > 0 ? &residue_ : nullptr};
  }
  std::unique_ptr<LinearMap<double>> noise_free() const override { return std::make_unique<CircuitMap>(*this); }
  void apply(const WeightUpdate<double>& update) override;
  /// Moves the devices of the first array by the missing difference: W = target with ideal wires.
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
  WeightSums<double> residue_;  ///< empty if driven one way at a time
  std::vector<Branch> branches_;
  Matrix<double> subtracted_;
  Matrix<double> weights_;  ///< sum over all branches
};

}  // namespace nudge
