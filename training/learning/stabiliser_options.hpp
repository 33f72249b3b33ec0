// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/learning/controller.hpp"

namespace nudge {

/// Options of the sections [damping] and [memory_bound], which keep a block settling while it learns.
struct StabiliserOptions {
  bool control = {};  ///< true if damping is regulated
  DampingOptions damping;
  MemoryBoundOptions memory;
};
const Section<StabiliserOptions>& stabiliser_section();

}  // namespace nudge
