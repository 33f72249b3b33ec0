// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "sim/config/config.hpp"
#include "sim/steady/continuation.hpp"

namespace nudge {

/// How an equilibrium of a network moves with a number of its config.
struct FollowedKey {
  std::string key;
  double from = 0, to = 0;
  int sequence = 0;  ///< of the first training batch: the least stable of those that `nudge stability` looks at
  Branch branch;
};

/// The equilibrium of the config, followed while `key` goes from its value there to that of `there`, a config of the same network, and
/// everything else, draws of weights, devices and nodes by their seeds included, stays: the circuit without fresh noise, in double.
/// UserError for a key that is no real number or does not move the force, and for networks that have no smooth force to follow:
/// feed-forward ones, which lose no equilibrium, and nodes in a box. `tell` hears of every value.
FollowedKey follow_key(const Config& asked, const Config& there, const std::string& key, int max_points,
                       const std::function<void(const std::string&)>& tell = {});

}  // namespace nudge
