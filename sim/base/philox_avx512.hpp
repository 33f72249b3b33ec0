// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/philox_blocks.hpp"

namespace nudge {

/// For processors with AVX-512 F, DQ, VL and BW; not built elsewhere.
PhiloxKernel philox_avx512();

}  // namespace nudge
