// SPDX-License-Identifier: Apache-2.0
#include "sim/base/bounded_read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/machine_memory.hpp"

namespace nudge {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 32U;
constexpr double kShare = 3;                            // of the free memory
constexpr std::size_t kAlways = std::size_t{1} << 20U;  // configs and the like, however little is free
constexpr std::size_t kPiece = std::size_t{1} << 18U;

}  // namespace

ReadBound read_bound() {
  const FreeMemory free = free_memory();
  if (!(free.bytes / kShare < static_cast<double>(kMost))) return {kMost, "the limit for one file. Use a part of it"};
  return {std::max(kAlways, static_cast<std::size_t>(free.bytes / kShare)),
          fmt::format("a third of {}. Use a part of it, or free memory", free.text())};
}

void refuse_length(const std::string& what, const ReadBound& bound) {
  throw UserError(fmt::format("{}: has more than {} bytes, {}", what, bound.bytes, bound.reason));
}

std::string read_bounded(std::istream& in, const std::string& what, std::size_t expected, const ReadBound& bound) {
  if (expected > bound.bytes) refuse_length(what, bound);
  std::string text;
  text.reserve(expected + (expected > 0 ? kPiece : 0));
  while (in) {
    stop_point();
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    in.read(text.data() + before, static_cast<std::streamsize>(kPiece));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
    if (text.size() > bound.bytes) refuse_length(what, bound);
  }
  return text;
}

std::size_t expected_bytes(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return 0;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<std::size_t>(size);
}

}  // namespace nudge
