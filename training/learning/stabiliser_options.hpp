// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/learning/controller.hpp"

namespace nudge {

/// The sections [damping] and [memory_bound]: what keeps a block settling while it learns.
struct StabiliserOptions {
  bool control = {};  ///< whether damping is regulated
  DampingOptions damping;
  MemoryBoundOptions memory;
};
const Section<StabiliserOptions>& stabiliser_section();

}  // namespace nudge
