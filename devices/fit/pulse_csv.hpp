// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "devices/step_model.hpp"

namespace nudge {

/// Measured pulses of one device: conductance_S[0] before the first pulse, conductance_S[i] after pulse i of direction[i]
/// (direction[0] means nothing).
struct PulseRecord {
  std::vector<double> conductance_S;
  std::vector<Direction> direction;
  std::size_t pulses() const { return conductance_S.empty() ? 0 : conductance_S.size() - 1; }
};

/// Reads CSV with the header `pulse,conductance,direction` (columns in any order; `conductance_S` too): pulse counts up by
/// one from row to row, conductance is in siemens or has a unit ("12.5 uS"), direction is that of the pulse before the
/// value, up or down (+1, -1). Lines that start with # and empty lines are skipped. UserError with name:line for a missing
/// or unknown column, a gap or step back of the pulse number, a number that is not finite, a negative conductance, an
/// unknown direction, or fewer than 4 pulses or 2 of one direction.
PulseRecord parse_pulse_csv(std::string_view text, const std::string& name);

/// The same from a file; UserError when it cannot be read.
PulseRecord read_pulse_csv(const std::string& path);

}  // namespace nudge
