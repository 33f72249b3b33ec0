// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "circuits/crossbar/crossbar.hpp"

namespace nudge {

/// One matrix of a file in an array of its own, without a network.
struct LoneArray {
  CrossbarSpec spec;
  Matrix<double> nominal;  ///< weights that it is to hold
  std::unique_ptr<Crossbar<double>> array;
};

/// Writes the weights of a file (CSV, .npy) into an array as `spec` has it. UserError naming file, place and rule.
LoneArray programmed_array(const std::string& path, const CrossbarSpec& spec, std::uint64_t seed);

/// An array that holds exactly the conductances of a file (CSV, .npy), in `unit` (S, mS, uS, nS): one bare device per cross point
/// (MappingKind::single) with the wires, circuits, read noise and curve of `spec`; where device.stuck_map has a number, that. A
/// weight of 1 (crossbar.w_max) is device.g_max, or the largest of the file where the spec has no device. UserError naming file,
/// place and rule: not a number, negative, all 0.
LoneArray measured_array(const std::string& path, const std::string& unit, const CrossbarSpec& spec,
                         std::uint64_t seed);

}  // namespace nudge
