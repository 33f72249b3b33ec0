// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace nudge {

/// What is compared: a name, and what it sets beside the config ("estimator=bptt", "device.preset=ecram").
struct Entrant {
  std::string name;
  std::vector<std::string> settings;
};

/// compare.entrants: "ESTIMATOR" or "NAME: key=value; key=value". A name that is an estimator sets it, unless its own
/// settings do; feed_forward sets what makes the plain network of as many weights (feed_forward.hpp), its own settings behind. UserError: fewer than two entrants, a name twice or unknown, two that set the same (in whatever spelling), a setting
/// without "=", one that the grid or the protocol sets. A check of every config: what reads a config later finds them sound.
std::vector<Entrant> read_entrants(const Config& config);

}  // namespace nudge
