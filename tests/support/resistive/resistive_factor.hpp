// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Cholesky>
#include <optional>
#include <vector>

#include "circuits/resistive/resistive_network.hpp"

namespace nudge::test {

/// Cholesky factorisation of the second derivative of the energy on the nodes that no diode holds, one sample. It is block
/// tridiagonal: layer l has c_l diag(G_l + [l = L] β) and towards layer l − 1 −B_l, B_l = c_l A_{l−1} g^l. Layers are
/// eliminated from the first to the last, each by its Schur complement
///     S_1 = c_1 diag(G_1),   S_l = c_l diag(G_l) − B_lᵀ S_{l−1}⁻¹ B_l,
/// which costs Σ n_{l−1} n_l² and nothing but products of diagonals for the first layer.
class ResistiveFactor {
 public:
  /// Factorises. free[i]: node i of a state (N) takes part. β < 0: a nudge that pushes away. extra (1, N), S:
  /// conductance at the nodes besides the resistors, such as the slope of a curved element; empty: none.
  ResistiveFactor(const ResistiveNetwork& network, const std::vector<bool>& free, double beta,
                  const Matrix<double>& extra = {});

  /// True if every pivot is positive: the energy is strictly convex in these nodes.
  bool positive_definite() const { return positive_definite_; }

  /// Returns x with H x = b on the free nodes, 0 on the others; b and x (1, N). Needs positive_definite() (contract).
  Matrix<double> solve(ConstMatrixRef<double> b) const;

  /// Returns S_L of the output nodes (n_L, n_L). Needs the hidden layers to be positive definite and all outputs free
  /// (contract).
  const Matrix<double>& output_complement() const { return blocks_.back().complement; }

 private:
  struct Block {
    std::vector<Index> free;                        ///< columns of a state
    Matrix<double> coupling;                        ///< B_l between the free nodes of the layer below and of this one
    Matrix<double> complement;                      ///< S_l, of the first layer its diagonal (1, n)
    std::optional<Eigen::LLT<Matrix<double>>> llt;  ///< factor of S_l, not for the first layer
  };
  Matrix<double> solve_block(const Block& block, const Matrix<double>& b) const;  ///< S_l x = b, columns

  std::vector<Block> blocks_;
  Index cols_ = 0;
  bool positive_definite_ = true;
};

/// Returns the largest β for which the energy of the phase nudged by −β is convex. −β c_L is added to the diagonal of
/// the outputs alone, so it is the smallest eigenvalue of their Schur complement S_L (all nodes free) over c_L. At and
/// above it there is no such phase: the minimum is not unique, or there is none. Above 0 if no node floats.
double convex_nudge_limit_S(const ResistiveNetwork& network);

}  // namespace nudge::test
