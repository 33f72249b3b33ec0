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

/// G_p[:, columns] += Σ scale · xᵀ y over the pairs of each parameter p, those of the same columns as one product of all their
/// rows, in order: the same bits for any number of threads. `pairs` by parameter.
template <class S>
void add_products(const std::vector<std::vector<FactorPair<S>>>& pairs, Gradient<S>& gradient, int threads);

}  // namespace nudge
