// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/linear_map.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

/// True if a correlation xᵀ y of n rows, of the given shape, should wait beside `pairs` for correlations of other
/// chunks. A product of few rows costs the passes over its result, not its arithmetic. Never more numbers wait than the
/// result has.
template <class S>
bool worth_keeping(const std::vector<FactorPair<S>>& pairs, Index n, ParameterShape result);

/// True if ‖Σ xᵀ y‖ of n rows of factors costs less by their inner products, n²/2 of both sides, than by the entries of
/// the sum. A digital matrix then takes the factors; the sum is never formed.
bool few_rows(Index n, ParameterShape result);

/// Stacks the pairs of one parameter into one pair for each block of its columns: all rows in order, scale 1.
template <class S>
std::vector<FactorPair<S>> stacked(std::vector<FactorPair<S>> pairs);

/// Adds G_p[:, columns] += Σ scale · xᵀ y over the pairs of each parameter p. Pairs of the same columns form one
/// product of all their rows, in order, so the bits are the same for any number of threads. `pairs` is indexed by
/// parameter.
template <class S>
void add_products(std::vector<std::vector<FactorPair<S>>> pairs, Gradient<S>& gradient, int threads);

/// Returns ‖G‖² of the gradient G[:, columns] = Σ scale xᵀ y (rows, cols) that a map holds as its factors. Few rows
/// (few_rows()) use inner products, ‖G‖² = Σ_kl ⟨x_k, x_l⟩⟨y_k, y_l⟩ in double. More rows are added up once and thrown
/// away: n factors cost n²/2 (rows + cols) products against n rows cols. Not finite when an entry is not.
template <class S>
double squared_norm(const std::vector<FactorPair<S>>& factors, Index rows, Index cols);

}  // namespace nudge
