// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/crossbar/mapping.hpp"
#include "circuits/crossbar/periphery_spec.hpp"
#include "circuits/linear_map.hpp"
#include "circuits/wires/tiled_array.hpp"

namespace nudge {

/// The devices of one array and the wires that they are read through, in double: what the weights of a noise-free circuit are
/// made of. Its parameter is w, the net conductance of a weight's devices over k, as training moves it: of a pair each device by
/// half of it, of a single device that one; reference devices stand still. What the lines see, W(w), is another matrix.
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

  /// Conductances as Mapping has them: (N, M), and (N, M), (N, 1) or (N, 0).
  WiredDevices(const Circuit& circuit, Matrix<double> first_S, Matrix<double> second_S);

  /// w ← w + delta, beyond any bounds of the devices.
  void move(const Matrix<double>& delta);

  /// Solves the wires for what the lines see: view.weights, and view.backward where transposed reads have ends of their own.
  void see(LineView<double>& view) const;

  /// ∂/∂w of Σ_n x_n W yᵀ_n, W as reads of that direction see it: x (n, N), y (n, columns.count), result (N, M).
  Matrix<double> gradient(ReadDirection way, ConstMatrixRef<double> x, ConstMatrixRef<double> y, Columns columns) const;

  std::vector<StateArray<double>> state();

 private:
  Matrix<double> seen(PathEnds ends) const;

  Circuit circuit_;
  Matrix<double> first_, second_;
};

}  // namespace nudge
