// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Checks of options: UserError "name = value (must be ...)".
void require_positive(const std::string& name, double value);
void require_at_least(const std::string& name, Index value, Index least);
/// `whole` is a multiple of `part`.
void require_divides(const std::string& part_name, Index part, const std::string& whole_name, Index whole);

}  // namespace nudge
