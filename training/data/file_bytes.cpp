// SPDX-License-Identifier: Apache-2.0
#include "training/data/file_bytes.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "sim/base/bounded_read.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

std::string read_file_bytes(const std::filesystem::path& path, const std::string& noun) {
  const auto fail = [&](const std::string& problem) {
    throw UserError(fmt::format("{} file \"{}\": {}", noun, path.string(), problem));
  };
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind == std::filesystem::file_type::not_found) fail("does not exist; check the path");
  if (kind == std::filesystem::file_type::none) fail(fmt::format("cannot be read: {}", error.message()));
  if (kind == std::filesystem::file_type::directory) fail(fmt::format("is a directory; name a {} file in it", noun));
  if (kind != std::filesystem::file_type::regular) {
    fail(fmt::format("is not a regular file; copy the {} into a file, a resumed run has to read it again", noun));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes =
      read_bounded(file, fmt::format("{} file \"{}\"", noun, path.string()), expected_bytes(path.string()));
  if (!file.is_open() || file.bad()) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  return bytes;
}

}  // namespace nudge
