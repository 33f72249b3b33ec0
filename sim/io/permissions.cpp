// SPDX-License-Identifier: Apache-2.0
#include "sim/io/permissions.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace nudge {
namespace {

constexpr const char* kAccessList = "system.posix_acl_access";
constexpr mode_t kModeBits = 0777;  // a file of results runs as nobody else

std::string access_list(const std::filesystem::path& path) {
  const ssize_t size = ::lgetxattr(path.c_str(), kAccessList, nullptr, 0);
  std::string out(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  if (!out.empty() && ::lgetxattr(path.c_str(), kAccessList, out.data(), out.size()) != size) return "";
  return out;
}

}  // namespace

std::optional<Permissions> Permissions::of(const std::filesystem::path& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return std::nullopt;
  Permissions out;
  out.mode_ = facts.st_mode & kModeBits;
  out.owner_ = facts.st_uid;
  out.group_ = facts.st_gid;
  out.list_ = access_list(path);
  return out;
}

bool Permissions::owner_may_write() const { return (mode_ & S_IWUSR) != 0; }

std::string Permissions::octal() const { return fmt::format("{:04o}", mode_); }

bool Permissions::give_to(const Descriptor& file) const {
  constexpr auto same_owner = static_cast<uid_t>(-1);
  const bool same_group = ::fchown(file.id(), owner_, group_) == 0 || ::fchown(file.id(), same_owner, group_) == 0;
  if (list_.empty()) ::fremovexattr(file.id(), kAccessList);  // one that the folder gives to new files
  const auto list_kept = [&] {
    return list_.empty() || ::fsetxattr(file.id(), kAccessList, list_.data(), list_.size(), 0) == 0;
  };
  if (same_group && ::fchmod(file.id(), mode_) == 0 && list_kept()) return true;
  return ::fchmod(file.id(), (mode_ & ~S_IRWXG) | (mode_ & S_IRWXG & ((mode_ & S_IRWXO) << 3))) == 0;
}

}  // namespace nudge
