// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/data/samples.hpp"

namespace nudge {

/// What is odd about the training part and makes no run fail: classes without a sample, a single class, features that have one value in all
/// samples. A sentence each; none: nothing.
std::vector<std::string> sample_notes(const SampleParts& parts);

}  // namespace nudge
