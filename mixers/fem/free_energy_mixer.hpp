// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mixers/fem/priors.hpp"
#include "mixers/mixer.hpp"

namespace nudge {

/// β = softplus(raw + 1.8), which is 1.95 where training starts (the paper's "around 1" is softplus⁻¹(1) = 0.54; its
/// 1.8 is kept). UserError naming `name` where a β underflows to zero.
template <class S>
Value<S> inverse_temperature(Value<S> raw, const std::string& name);

/// g of the outer gate: softplus(g_raw) over its RMS in each of `groups` blocks of channels, ε = 1e-6, no learned
/// scale.
template <class S>
Value<S> outer_gate(Value<S> g_raw, Index groups);

/// The gated read u = g ∘ ((1 − λ) μ + λ F), λ = sigmoid(λ_raw): eqs. 9 and 10. Null gates (ablations): g = 1, λ = 1.
template <class S>
Value<S> gated_read(const Branches<S>& branches, const Value<S>* lambda, const Value<S>* gate);

/// The two parameter budgets of the paper, both 4 width² weights with the softmax prior: d = width/2 with queries and
/// keys of `width`, or d = 2 width/3 with queries and keys of d. UserError where the sizes do not divide.
enum class Budget { half, two_thirds };
MixerOptions free_energy_budget(Budget budget, Index width, Index heads);

}  // namespace nudge
