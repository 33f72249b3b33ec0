// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "sim/base/errors.hpp"

namespace nudge {

/// A whole number in [0, below) that a checkpoint keeps as a real. UserError: it is another, so the file is damaged.
inline std::uint64_t restored_count(double value, double below, const char* what) {
  if (!(value >= 0 && value < below) || value != std::floor(value)) {
    throw UserError(
        fmt::format("{}: restored as {}, not a whole number in [0, {}): the file is damaged", what, value, below));
  }
  return static_cast<std::uint64_t>(value);
}

}  // namespace nudge
