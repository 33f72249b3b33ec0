// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"
#include "sim/config/config.hpp"

namespace nudge {

/// Series of [series], standardised by its training part and cut into three parts that follow one another in time. A forecast belongs to
/// the part that holds its values; its known values may reach into the part before, as is customary.
struct CutSeries {
  /// Starts of the forecasts of a part, for every variable: steps [begin, begin + count).
  struct Starts {
    Index begin = 0, count = 0;
  };
  Starts training, validation, test;
  Matrix<float> series;  ///< (length, variables)
};

/// Reads and cuts the series for windows of so many known and unknown values. UserError for a part that is shorter than a window, and for a
/// column that stands still.
CutSeries cut_series(const Config& config, Index known, Index unknown);

}  // namespace nudge
