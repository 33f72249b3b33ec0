// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/mixer.hpp"

namespace nudge {

struct MambaOptions {
  Index states = 3;  ///< N of a head
};

}  // namespace nudge
