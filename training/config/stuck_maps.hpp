// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "circuits/crossbar/crossbar_spec.hpp"

namespace nudge {

/// Name of an array that belongs to no network (nudge crossbar --weights MATRIX, --conductances).
inline constexpr const char* lone_array_name = "array";

/// Throws UserError for an entry of device.stuck_map that names no array of `names`, or one twice. Also for arrays of which there
/// are several (replicas of tokens, Tiki-Taka): a map describes one array.
void check_stuck_names(const CrossbarSpec& spec, const std::vector<std::string>& names);

/// Reads the entry of device.stuck_map for the array `name` of rows x cols weights into spec.stuck. UserError naming the file, the
/// place and the rule: another shape, a negative number, a second array that the mapping does not have.
void set_stuck_map(CrossbarSpec& spec, const std::string& name, Index rows, Index cols);

}  // namespace nudge
