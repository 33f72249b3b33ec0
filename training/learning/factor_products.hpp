// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/linear_map.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

/// Whether a correlation of n rows, xᵀ y of the given shape, should wait beside `pairs` for those of other chunks: a product of
/// few rows costs the passes over its result and not its arithmetic. Never more numbers wait than the result has.
template <class S>
bool worth_keeping(const std::vector<FactorPair<S>>& pairs, Index n, ParameterShape result);

/// Whether n rows of factors in all are so few that ‖Σ xᵀ y‖ costs less by their inner products, n²/2 of both sides, than by the
/// entries of the sum: a map of numbers then takes the factors, and the sum need not be anywhere.
bool few_rows(Index n, ParameterShape result);

/// The pairs of one parameter as one pair for each block of its columns: all their rows in order, of scale 1.
template <class S>
std::vector<FactorPair<S>> stacked(std::vector<FactorPair<S>> pairs);

/// G_p[:, columns] += Σ scale · xᵀ y over the pairs of each parameter p, those of the same columns as one product of all their
/// rows, in order: the same bits for any number of threads. `pairs` by parameter.
template <class S>
void add_products(std::vector<std::vector<FactorPair<S>>> pairs, Gradient<S>& gradient, int threads);

/// ‖G‖² of the gradient G[:, columns] = Σ scale xᵀ y (rows, cols) that a map holds as its factors. Few rows (few_rows()) by their
/// inner products, ‖G‖² = Σ_kl ⟨x_k, x_l⟩⟨y_k, y_l⟩ in double; more are added up once and thrown away: n factors cost
/// n²/2 (rows + cols) products against n rows cols. Not finite when an entry is not.
template <class S>
double squared_norm(const std::vector<FactorPair<S>>& factors, Index rows, Index cols);

}  // namespace nudge
