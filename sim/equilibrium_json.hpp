// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "sim/equilibrium.hpp"

namespace nudge {

/// {settled, lost, unstable, dead, verdict}; shares are null and the verdict is empty where there is none.
inline nlohmann::json json_of(const Equilibrium& e) {
  return {
      {"settled", e.settled}, {"lost", e.lost}, {"unstable", e.unstable}, {"dead", e.dead}, {"verdict", sentence(e)}};
}

}  // namespace nudge
