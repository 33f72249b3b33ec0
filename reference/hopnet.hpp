// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/case_kind.hpp"

namespace nudge {

/// The layered Hopfield networks, dense and convolutional, of the cases' NETWORKS.md, section 1: kinds hopnet and convnet.
std::vector<CaseDataset> compute_hopnet(const H5Reader& file);

}  // namespace nudge
