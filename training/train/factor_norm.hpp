// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// ‖G‖² of the gradient G[:, columns] = Σ scale xᵀ y (rows, cols) that a map holds as its factors: added up once, exactly,
/// and thrown away. (By Gram matrices ‖G‖² = Σ_kl ⟨x_k, x_l⟩⟨y_k, y_l⟩ costs n² (rows + cols) for n factors against
/// n rows cols here: more, as a batch has more tokens than an array has lines.) Not finite when an entry is not.
template <class S>
double squared_norm(const std::vector<FactorPair<S>>& factors, Index rows, Index cols);

}  // namespace nudge
