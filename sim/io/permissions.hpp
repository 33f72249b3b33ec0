// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "sim/io/descriptor.hpp"

namespace nudge {

/// Who may do what with a file that is replaced: mode, owner, group and POSIX access list.
class Permissions {
 public:
  /// Those of the file at the path; nothing where none is.
  static std::optional<Permissions> of(const std::filesystem::path& path);

  /// Whether its owner may write it: root could without.
  bool owner_may_write() const;

  std::string octal() const;  ///< "0644"

  /// Gives them to another file, as far as the system lets this user. Where group or list cannot be kept, the group gets no more
  /// than everybody has. False with errno when not even the mode can be set.
  bool give_to(const Descriptor& file) const;

 private:
  mode_t mode_ = 0;
  uid_t owner_ = 0;
  gid_t group_ = 0;
  std::string list_;  ///< system.posix_acl_access
};

}  // namespace nudge
