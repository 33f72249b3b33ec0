// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nudge {

/// Which array the random numbers of an array of devices belong to.
struct ArrayIdentity {
  std::uint64_t seed = 0;
  std::uint32_t entity = 0;  ///< number of the crossbar in the model
  std::uint32_t side = 0;    ///< 0 or 1: G+ or G−
};

}  // namespace nudge
