// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mixers/mixer.hpp"
#include "mixers/tape.hpp"

namespace nudge {

/// Gated feed-forward part of a pre-norm block (Shazeer, arXiv:2002.05202, eq. 5), x (T, D) to its update (T, D):
///     (silu(h Wg) ∘ (h Wu)) Wd,  h = RMS(x) ∘ n2,  ε = 1e-6
/// no biases; parameters <prefix>n2 (D), Wg, Wu (D, inner), Wd (inner, D).
std::vector<Field> feed_forward_fields(const std::string& prefix, Index width, Index inner);
template <class S>
Value<S> feed_forward(Value<S> x, const NamedValues<S>& parameters, const std::string& prefix);

/// Logits (T, V) of x (T, D) through the table of tokens (V, D) itself, x emb'/√D, in place of a separate matrix. Source: Press and
/// Wolf, arXiv:1608.05859. By the factor, rows of unit variance give the logits of an untied read with weights N(0, 1/D).
template <class S>
Value<S> tied_read(Value<S> x, Value<S> table);

}  // namespace nudge
