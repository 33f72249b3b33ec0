// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/sweep/sweep.hpp"

namespace nudge {

/// The result of a point (status, metrics, groups, seconds) as bytes for another process of the same build, bit by bit.
std::string result_bytes(const SweepPoint& point);

/// Takes what result_bytes() made from the front of `bytes`, and removes it there.
void take_result(std::string& bytes, SweepPoint& point);

}  // namespace nudge
