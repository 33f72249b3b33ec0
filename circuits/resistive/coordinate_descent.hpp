// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/resistive/resistive_network.hpp"

namespace nudge {

/// Exact coordinate descent (Scellier 2024, arXiv 2402.11674): a layer's nodes are joined by no resistor, so all of them
/// take at once the voltages that minimise the energy for fixed neighbours,
///     v_lj ← clip(v_lj + I_lj/G_lj, diode),
/// which never raises the energy. A sweep updates the odd layers 1, 3, …, then the even ones. Samples lie side by side as
/// rows: a layer is one product per neighbour; what the sources drive is computed once per bind(). Allocates nothing after
/// the first use of a shape. A node without any conductance goes to 0.
template <class S>
class CoordinateDescent {
 public:
  /// Keeps a reference to the network; bind() again after its numbers have changed.
  explicit CoordinateDescent(const ResistiveNetwork<S>& network) : network_(&network) {}

  /// The sources v_0 (B, n_0) of the sweeps that follow, without a nudge.
  void bind(ConstMatrixRef<S> sources);

  /// The nudge β (y − v_L), y (B, n_L), of the sweeps that follow; β = 0: none. NumericalFailure with the inequality where
  /// G + β ≤ 0 at an output node: its energy has no minimum.
  void nudge(S beta, ConstMatrixRef<S> target);

  /// n sweeps from v (B, N), in place.
  void sweep(MatrixRef<S> v, int n = 1);

 private:
  void update(MatrixRef<S> v, Index l);

  const ResistiveNetwork<S>* network_;
  std::vector<Matrix<S>> drive_;    ///< per layer (B, n_l): what sources, rails, current sources and nudge drive
  std::vector<Matrix<S>> inverse_;  ///< per layer (1, n_l): 1/(G + β)
  std::vector<Matrix<S>> part_;     ///< working memory
  Matrix<S> output_drive_;          ///< of the output layer without the nudge
};

}  // namespace nudge
