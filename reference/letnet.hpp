// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/case_kind.hpp"

namespace nudge {

/// The layered equilibrium transformer of the cases' LETNET.md.
std::vector<CaseDataset> compute_letnet(const H5Reader& file);

}  // namespace nudge
