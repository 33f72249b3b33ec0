// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// ‖G‖² of the gradient G[:, columns] = Σ scale xᵀ y (rows, cols) that a map holds as its factors. Few rows (few_rows()) by their
/// inner products, ‖G‖² = Σ_kl ⟨x_k, x_l⟩⟨y_k, y_l⟩ in double; more are added up once and thrown away: n factors cost
/// n²/2 (rows + cols) products against n rows cols. Not finite when an entry is not.
template <class S>
double squared_norm(const std::vector<FactorPair<S>>& factors, Index rows, Index cols);

}  // namespace nudge
