// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "sim/equilibrium.hpp"

namespace nudge {

/// {settled, lost, unstable, dead, ended, verdict}; shares and `ended`, to_string(Status), are null and the verdict is empty where there
/// is none.
inline nlohmann::json json_of(const Equilibrium& e) {
  return {{"settled", e.settled},
          {"lost", e.lost},
          {"unstable", e.unstable},
          {"dead", e.dead},
          {"ended", e.known() ? nlohmann::json(to_string(e.ended)) : nlohmann::json()},
          {"verdict", sentence(e)}};
}

}  // namespace nudge
