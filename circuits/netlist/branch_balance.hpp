// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "circuits/netlist/nodal_equations.hpp"

namespace nudge {

/// A number with a weight, of a sparse row.
struct Share {
  int number;
  double weight;
};

/// What makes a circuit with amplifiers reciprocal. Let p_k and n_k be the rows by which branch k sees the voltages of the columns and
/// moves their charge, J = −Σ_k n_kᵀ g_k p_k. Where there are positive d_c and σ_k with
///     d_c n_kc = σ_k p_kc                         for every branch k and column c,
/// the columns z_c = √d_c v_c have the symmetric J = −Σ_k σ_k g_k p'_kᵀ p'_k, p'_kc = p_kc/√d_c, and a force that is minus the slope of
///     E = Σ_k σ_k ∫ I_k dv
/// A bidirectional amplifier (voltage times A, current times 1/A) has it: with d = 1 behind, σ = 1 at its terminal and A² at its node, the
/// factors of the learning rule of Kendall et al. 2020 (arXiv 2006.01981) and Scellier 2024 (arXiv 2402.11674). σ is 0 of a branch that moves no column.
struct BranchBalance {
  std::vector<double> scale;   ///< √d by column
  std::vector<double> weight;  ///< σ by branch
};

/// By branches between nodes, whose rows p and n are; d = 1 in the columns from first_output on and, where none of these reaches, in one.
/// Nothing where no such numbers are.
std::optional<BranchBalance> branch_balance(const std::vector<std::vector<Share>>& p,
                                            const std::vector<std::vector<Share>>& n,
                                            const std::vector<NodePair>& branches, int columns, int first_output);

}  // namespace nudge
