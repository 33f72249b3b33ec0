// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/cases/case_kind.hpp"

namespace nudge {

/// The layered Hopfield networks, dense and convolutional, of the cases' NETWORKS.md, section 1: kinds hopnet and convnet.
std::vector<CaseDataset> compute_hopnet(const H5Reader& file);

}  // namespace nudge
