// SPDX-License-Identifier: Apache-2.0
#include "sim/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "sim/base/errors.hpp"
#include "sim/io/descriptor.hpp"
#include "sim/io/new_file.hpp"
#include "sim/io/permissions.hpp"

namespace nudge {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void exists_already(const fs::path& path) {
  throw UserError(path.string() +
                  ": exists already and is not overwritten: choose another name, or continue a run with --resume");
}

void expect_replaceable(const fs::path& path, const fs::path& target) {
  const auto permissions = Permissions::of(target);
  if (permissions && !permissions->owner_may_write()) {
    throw UserError(
        fmt::format("{}: is read-only (mode {}) and stays as it is: allow writing with chmod u+w, or "
                    "choose another output",
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

}  // namespace nudge
