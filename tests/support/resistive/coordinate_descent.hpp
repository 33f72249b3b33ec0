// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/resistive/resistive_network.hpp"

namespace nudge::test {

/// Sets every node of a state (B, N), or of its layer l, that is on the wrong side of its diode to 0.
void clip(const ResistiveNetwork& network, MatrixRef<double> v);
void clip_layer(const ResistiveNetwork& network, MatrixRef<double> v, Index l);

/// Exact coordinate descent (Scellier 2024, arXiv 2402.11674): a layer's nodes are joined by no resistor, so all of them
/// take at once the voltages that minimise the energy for fixed neighbours,
///     v_lj ← clip(v_lj + I_lj/G_lj, diode),
/// which never raises the energy. A sweep updates the odd layers 1, 3, …, then the even ones. Samples lie side by side as
/// rows: a layer is one product per neighbour; what the sources drive is computed once per bind(). Allocates nothing after
/// the first use of a shape. A node without any conductance goes to 0.
class CoordinateDescent {
 public:
  /// Keeps a reference to the network; bind() again after its numbers have changed.
  explicit CoordinateDescent(const ResistiveNetwork& network) : network_(&network) {}

  /// Sets the sources v_0 (B, n_0) of the sweeps that follow, without a nudge.
  void bind(ConstMatrixRef<double> sources);

  /// Sets the nudge β (y − v_L), y (B, n_L), of the sweeps that follow; β = 0: none. NumericalFailure with the
  /// inequality where G + β ≤ 0 at an output node: its energy has no minimum.
  void nudge(double beta, ConstMatrixRef<double> target);

  /// Does n sweeps from v (B, N), in place.
  void sweep(MatrixRef<double> v, int n = 1);

 private:
  void update(MatrixRef<double> v, Index l);

  const ResistiveNetwork* network_;
  std::vector<Matrix<double>> drive_;    ///< drive by sources, rails, current sources and nudge, per layer (B, n_l)
  std::vector<Matrix<double>> inverse_;  ///< per layer (1, n_l): 1/(G + β)
  std::vector<Matrix<double>> part_;     ///< working memory
  Matrix<double> output_drive_;          ///< drive of the output layer without the nudge
};

}  // namespace nudge::test
