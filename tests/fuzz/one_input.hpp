// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "sim/base/errors.hpp"

namespace nudge::fuzz {

/// Runs `read` on bytes that may be anything. What is wrong with them must be a UserError; any other exception, a crash, a leak
/// or a hang is a finding.
template <class Read>
int refused_or_read(const Read& read) {
  try {
    read();
  } catch (const UserError& error) {
    if (std::string(error.what()).empty()) std::terminate();  // says nothing
  }
  return 0;
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace nudge::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
