// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/section.hpp"

namespace nudge {

/// Options of nudge spec.
struct SpecOptions {
  std::vector<std::string> keys;    ///< keys that get a requirement; empty: all known ones that apply
  std::vector<GridAxis> range;      ///< best and worst value of a key
  double loss = {};                 ///< share of what digital weights learn that a requirement may cost
  std::string metric;               ///< "score" or "loss"
  std::vector<std::int64_t> seeds;  ///< every training is run with each of them
  int bisections = {};              ///< bisections of each range
  int designs = {};                 ///< designs drawn for the Pareto front
  std::int64_t runs = {};           ///< most trainings
};

const Section<SpecOptions>& spec_section();

}  // namespace nudge
