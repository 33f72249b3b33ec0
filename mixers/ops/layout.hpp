// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "mixers/tape.hpp"

namespace nudge {

/// Columns [begin, begin + count).
template <class S>
Value<S> columns(Value<S> x, Index begin, Index count);

/// Rows [begin, begin + count).
template <class S>
Value<S> rows(Value<S> x, Index begin, Index count);

/// y_tj = x_t,index[j]; the derivative adds up where columns repeat.
template <class S>
Value<S> gather_columns(Value<S> x, std::vector<int> index);

/// The columns of x, one after the other, as one row.
template <class S>
Value<S> as_row(Value<S> x);

/// Side by side; all parts have the same number of rows.
template <class S>
Value<S> join_columns(const std::vector<Value<S>>& parts);

/// Numbers of rows or classes that the caller may change (not resize) before a tape is run again.
using SharedIndices = std::shared_ptr<const std::vector<int>>;

/// y_t = x_{index[t]}: rows of a table; the derivative adds up where rows repeat.
template <class S>
Value<S> gather_rows(Value<S> x, std::vector<int> index);
template <class S>
Value<S> gather_rows(Value<S> x, SharedIndices index);

}  // namespace nudge
