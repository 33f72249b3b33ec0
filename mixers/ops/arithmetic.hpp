// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/tape.hpp"

namespace nudge {

/// Elementwise, shape of a; b has the shape of a or is repeated along rows (1, n), columns (m, 1) or both (1, 1).
template <class S>
Value<S> operator+(Value<S> a, Value<S> b);
template <class S>
Value<S> operator-(Value<S> a, Value<S> b);
template <class S>
Value<S> operator*(Value<S> a, Value<S> b);
template <class S>
Value<S> operator/(Value<S> a, Value<S> b);

/// scale x + shift with constants.
template <class S>
Value<S> affine(Value<S> x, double scale, double shift = 0);

/// Σ over the columns of each row, (m, 1).
template <class S>
Value<S> row_sum(Value<S> x);

/// Σ over everything, (1, 1).
template <class S>
Value<S> total(Value<S> x);

}  // namespace nudge
