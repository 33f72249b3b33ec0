// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace nudge {

/// Method of a comparison: a name, and its settings beside the config ("estimator=bptt", "device.preset=ecram").
struct Entrant {
  std::string name;
  std::vector<std::string> settings;
};

/// Methods of compare.entrants: "ESTIMATOR" or "NAME: key=value; key=value". A name that is an estimator sets it, unless its own settings do. feed_forward sets
/// the plain network of as many weights (feed_forward.hpp), its own settings behind. UserError: fewer than two methods, a name twice or unknown, two that set
/// the same (in whatever spelling). UserError too for a setting without "=", or one that the grid or the protocol makes. Every config is checked in this way,
/// so later readers find the methods sound.
std::vector<Entrant> read_entrants(const Config& config);

}  // namespace nudge
