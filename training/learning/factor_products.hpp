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

}  // namespace nudge
