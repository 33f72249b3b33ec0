// SPDX-License-Identifier: Apache-2.0
#include "sim/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "sim/base/errors.hpp"
#include "sim/io/new_file.hpp"

namespace nudge {

namespace fs = std::filesystem;

namespace {

constexpr const char* kAccessList = "system.posix_acl_access";
constexpr mode_t kModeBits = 0777;  // a file of results runs as nobody else

std::string access_list(const std::filesystem::path& path) {
  const ssize_t size = ::lgetxattr(path.c_str(), kAccessList, nullptr, 0);
  std::string out(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  if (!out.empty() && ::lgetxattr(path.c_str(), kAccessList, out.data(), out.size()) != size) return "";
  return out;
}

/// Access rights of a file that is replaced, to be given to its successor: mode, owner, group and POSIX access list.
class Permissions {
 public:
  /// Rights of the file at the path; nothing if there is none.
  static std::optional<Permissions> of(const std::filesystem::path& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) return std::nullopt;
    Permissions out;
    out.mode_ = facts.st_mode & kModeBits;
    out.owner_ = facts.st_uid;
    out.group_ = facts.st_gid;
    out.list_ = access_list(path);
    return out;
  }

  /// True if the file's owner may write it; root could write it even if not.
  bool owner_may_write() const { return (mode_ & S_IWUSR) != 0; }

  std::string octal() const { return fmt::format("{:04o}", mode_); }  ///< "0644"

  /// Gives these rights to another file, as far as the system lets this user. Where group or list cannot be kept, the group
  /// gets no more than everybody has. False with errno when not even the mode can be set.
  bool give_to(const Descriptor& file) const {
    constexpr auto same_owner = static_cast<uid_t>(-1);
    const bool same_group = ::fchown(file.id(), owner_, group_) == 0 || ::fchown(file.id(), same_owner, group_) == 0;
    if (list_.empty()) ::fremovexattr(file.id(), kAccessList);  // one that the folder gives to new files
    const auto list_kept = [&] {
      return list_.empty() || ::fsetxattr(file.id(), kAccessList, list_.data(), list_.size(), 0) == 0;
    };
    if (same_group && ::fchmod(file.id(), mode_) == 0 && list_kept()) return true;
    return ::fchmod(file.id(), (mode_ & ~S_IRWXG) | (mode_ & S_IRWXG & ((mode_ & S_IRWXO) << 3))) == 0;
  }

 private:
  mode_t mode_ = 0;
  uid_t owner_ = 0;
  gid_t group_ = 0;
  std::string list_;  ///< system.posix_acl_access
};

[[noreturn]] void exists_already(const fs::path& path) {
  throw UserError(path.string() +
                  ": exists already and is not overwritten. Choose another name, or continue a run with --resume");
}

void expect_replaceable(const fs::path& path, const fs::path& target) {
  const auto permissions = Permissions::of(target);
  if (permissions && !permissions->owner_may_write()) {
    throw UserError(fmt::format("{}: is read-only (mode {}). Allow writing with chmod u+w, or choose another output",
                                path.string(), permissions->octal()));
  }
  if (!open_plain_file(target, O_WRONLY).ok()) cannot_write(path, errno);
}

/// The file to write, once the policy allows it.
fs::path allowed_target(const fs::path& path, Overwrite overwrite, Links links) {
  if (path.filename().empty()) throw UserError("output: a file name is missing in \"" + path.string() + "\"");
  fs::path target = output_target(path, links);
  std::error_code error;
  const auto status = fs::symlink_status(target, error);
  if (!fs::exists(status)) return target;
  if (!fs::is_regular_file(status)) throw UserError(path.string() + ": is not a plain file: choose another output");
  if (overwrite == Overwrite::must_not_exist) exists_already(path);
  expect_replaceable(path, target);
  return target;
}

constexpr unsigned kPrivate = 0600, kByUmask = 0666;

}  // namespace

void check_output_path(const fs::path& path, Overwrite overwrite, Links links) {
  const fs::path target = allowed_target(path, overwrite, links);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::exists(folder, error)) {
    throw UserError(
        fmt::format("{}: the directory {} does not exist: create it first", path.string(), folder.string()));
  }
  const NewFile probe(target, path, kPrivate);  // access(2) would say yes to root on a read-only disk
}

void write_atomically(const fs::path& path, std::span<const std::byte> bytes, Overwrite overwrite, Links links) {
  const fs::path target = allowed_target(path, overwrite, links);
  remove_leftovers(target);
  const auto permissions = overwrite == Overwrite::replace ? Permissions::of(target) : std::nullopt;
  NewFile file(target, path, permissions ? kPrivate : kByUmask);
  file.write(bytes);
  if (permissions && !permissions->give_to(file.file())) cannot_write(path, errno);
  file.finish();
  if (overwrite == Overwrite::replace) {
    file.replace_target();
  } else if (!file.take_free_name()) {  // closes the gap between the check and now
    exists_already(path);
  }
  flush_folder_of(target);
}

namespace {

void expect_trusted_link(const fs::path& link, const struct stat& facts, const fs::path& shown) {
  struct stat folder {};
  const fs::path parent = link.has_parent_path() ? link.parent_path() : fs::path(".");
  if (::stat(parent.c_str(), &folder) != 0 || (folder.st_mode & S_IWOTH) == 0) return;
  if (facts.st_uid == ::geteuid() || facts.st_uid == folder.st_uid) return;
  throw UserError(
      fmt::format("{}: {} is a symbolic link of another user in a folder that everybody may write, so it is not "
                  "followed. Choose another output",
                  shown.string(), link.string()));
}

}  // namespace

fs::path output_target(const fs::path& path, Links links) {
  constexpr int most = 40;  // links one behind the other, as Linux follows them
  fs::path target = path;
  struct stat facts {};
  for (int n = 0; ::lstat(target.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode); ++n) {
    if (links == Links::refused) {
      throw UserError(path.string() + ": is a symbolic link, which is not followed here: choose another output");
    }
    if (n == most) throw UserError(path.string() + ": is a symbolic link that leads nowhere: choose another output");
    expect_trusted_link(target, facts, path);
    std::error_code error;
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target;
}

}  // namespace nudge
