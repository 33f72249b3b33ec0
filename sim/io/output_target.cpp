// SPDX-License-Identifier: Apache-2.0
#include "sim/io/output_target.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/errors.hpp"

namespace nudge {

namespace fs = std::filesystem;

namespace {

void expect_trusted_link(const fs::path& link, const struct stat& facts, const fs::path& shown) {
  struct stat folder {};
  const fs::path parent = link.has_parent_path() ? link.parent_path() : fs::path(".");
  if (::stat(parent.c_str(), &folder) != 0 || (folder.st_mode & S_IWOTH) == 0) return;
  if (facts.st_uid == ::geteuid() || facts.st_uid == folder.st_uid) return;
  throw UserError(
      fmt::format("{}: {} is a symbolic link of another user in a folder that everybody may write, and is not followed "
                  "(choose another output)",
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
    if (n == most) throw UserError(path.string() + ": is a symbolic link without an end: choose another output");
    expect_trusted_link(target, facts, path);
    std::error_code error;
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target;
}

}  // namespace nudge
