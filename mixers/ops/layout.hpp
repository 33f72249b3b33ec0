// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mixers/tape.hpp"

namespace nudge {

/// Columns [begin, begin + count).
template <class S>
Value<S> columns(Value<S> x, Index begin, Index count);

/// Rows [begin, begin + count).
template <class S>
Value<S> rows(Value<S> x, Index begin, Index count);

/// Side by side; all parts have the same number of rows.
template <class S>
Value<S> join_columns(const std::vector<Value<S>>& parts);

/// y_t = x_{index[t]}: rows of a table; the derivative adds up where rows repeat.
template <class S>
Value<S> gather_rows(Value<S> x, std::vector<int> index);

}  // namespace nudge
