// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// A Hopfield memory whose spectral norm must stay inside its clamp (training/learning/memory_bound.hpp): columns `memory` of a
/// parameter, and the parameter that it returns through where that is another one.
struct WeightBound {
  int parameter = 0;
  Columns memory;
  int returns = -1;  ///< -1: through the transposed read of the same array
};

}  // namespace nudge
