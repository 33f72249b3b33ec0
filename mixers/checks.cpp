// SPDX-License-Identifier: Apache-2.0
#include "mixers/checks.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

void require_positive(const std::string& name, double value) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw UserError(fmt::format("{} = {} (must be a positive finite number)", name, value));
  }
}

void require_at_least(const std::string& name, Index value, Index least) {
  if (value < least) throw UserError(fmt::format("{} = {} (must be at least {})", name, value, least));
}

void require_divides(const std::string& part_name, Index part, const std::string& whole_name, Index whole) {
  require_at_least(part_name, part, 1);
  if (whole % part != 0) {
    throw UserError(fmt::format("{} = {} (must divide {} = {})", part_name, part, whole_name, whole));
  }
}

}  // namespace nudge
