// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reference/case_kind.hpp"

namespace nudge {

/// The kinds of the mixers' reference cases (MIXERS.md beside the cases), by family.
std::vector<CaseKind> attention_case_kinds();
std::vector<CaseKind> free_energy_case_kinds();
std::vector<CaseKind> read_case_kinds();
std::vector<CaseKind> free_transformer_case_kinds();
std::vector<CaseKind> training_case_kinds();

}  // namespace nudge
