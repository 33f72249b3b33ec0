// SPDX-License-Identifier: Apache-2.0
#include "sim/io/temporary_directory.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "sim/base/errors.hpp"

namespace nudge {

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "nudge-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw UserError(fmt::format("{}: cannot be made: {} (TMPDIR names another folder)", name, std::strerror(errno)));
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace nudge
