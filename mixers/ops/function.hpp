// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/tape.hpp"

namespace nudge {

/// Functions of one number, all in forms that neither overflow nor cancel for large |x|.
enum class Function {
  relu,             ///< max(x, 0), slope 0 at 0
  sigmoid,          ///< 1/(1 + e⁻ˣ)
  softplus,         ///< log(1 + eˣ)
  silu,             ///< x sigmoid(x)
  gelu,             ///< x (1 + erf(x/√2))/2
  exponential,      ///< eˣ
  logarithm,        ///< log x, for x > 0
  sine,             ///< sin x
  square,           ///< x²
  squared_relu,     ///< max(x, 0)², slope 2 max(x, 0) (So et al., "Primer", arXiv:2109.08668)
  bit_information,  ///< log 2 − H_b(sigmoid(x)): what a bit with logit x tells beyond a fair coin, in nats
};

/// y = f(x), elementwise.
template <class S>
Value<S> apply(Function function, Value<S> x);

/// f(x) of one number, for code that needs no derivative.
template <class S>
S evaluate(Function function, S x);

}  // namespace nudge
