// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/nudged_law.hpp"

namespace nudge {

/// One sweep of the adjoint's relaxation from the last node to the first, a_j ← a_j + ε ((Jᵀ a)_j + g_j) with a as it is by then:
/// what is pulled back through nodes that drive later ones is settled by one sweep of εL = 1. `change` is working memory.
template <class S>
void adjoint_sweep(Layered<S>& layered, const NudgedPoint<S>& point, NudgedLaw<S>& law, ConstMatrixRef<S> g, S step,
                   Matrix<S>& a, Matrix<S>& change) {
  for (std::size_t node = layered.nodes(); node-- > 0;) {
    const auto [begin, count] = layered.node_columns(node);
    if (point.filter == nullptr) {
      layered.node_vjp(a, change, node);
    } else {
      law.vjp(point, a, change);
    }
    change.middleCols(begin, count) += g.middleCols(begin, count);
    a.middleCols(begin, count) += step * change.middleCols(begin, count);
  }
}

}  // namespace nudge
