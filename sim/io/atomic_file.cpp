// SPDX-License-Identifier: Apache-2.0
#include "sim/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void cannot_write(const fs::path& path, int error) {
  const char* advice = error == ENOSPC || error == EDQUOT ? "free some space" : "choose another output";
  throw UserError(fmt::format("{}: cannot be written: {} ({})", path.string(), std::strerror(error), advice));
}

[[noreturn]] void exists_already(const fs::path& path) {
  throw UserError(path.string() +
                  ": exists already and is not overwritten: choose another name, or continue a run with --resume");
}

/// A symbolic link stays a link: the file that it points to is replaced, or made where it points to none.
fs::path target_of(const fs::path& path) {
  constexpr int most = 40;  // links one behind the other, as Linux follows them
  fs::path target = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    if (links == most) throw UserError(path.string() + ": is a symbolic link without an end: choose another output");
    const fs::path next = fs::read_symlink(target, error);
    if (error) return path;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target;
}

std::string hidden_prefix(const fs::path& path) { return fmt::format(".{}.partial-", path.filename().string()); }

fs::path hidden_name(const fs::path& path) {
  return path.parent_path() / fmt::format("{}{}", hidden_prefix(path), ::getpid());
}

/// Removes the hidden files of processes that were killed while they wrote this file.
void remove_leftovers(const fs::path& path) {
  const std::string prefix = hidden_prefix(path);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    pid_t owner = 0;
    const auto parsed = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), owner);
    const bool ours = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() && owner > 0;
    std::error_code ignored;
    if (ours && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove(at->path(), ignored);
  }
}

void check_policy(const fs::path& path, Overwrite overwrite) {
  if (path.filename().empty()) throw UserError("output: a file name is missing in \"" + path.string() + "\"");
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status)) throw UserError(path.string() + ": is not a plain file: choose another output");
  if (overwrite == Overwrite::must_not_exist) exists_already(path);
}

/// The new name survives a power failure as the data do. Some file systems have no such call.
void sync_folder(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

/// The hidden file: open for writing, removed unless it was renamed.
class PartialFile {
 public:
  explicit PartialFile(const fs::path& path) : path_(path), hidden_(hidden_name(path)) {
    descriptor_ = ::open(hidden_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) cannot_write(path_, errno);
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(hidden_.c_str());
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) cannot_write(path_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    if (::fsync(descriptor_) != 0 && errno != EINVAL) cannot_write(path_, errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) cannot_write(path_, errno);
  }

  void rename(Overwrite overwrite) {
    int result = -1;
    if (overwrite == Overwrite::must_not_exist) {  // closes the gap between the check and now
      result = ::renameat2(AT_FDCWD, hidden_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE);
      if (result != 0 && errno == EEXIST) exists_already(path_);
    }
    if (result != 0) result = ::rename(hidden_.c_str(), path_.c_str());  // also where the file system lacks renameat2
    if (result != 0) cannot_write(path_, errno);
    renamed_ = true;
    sync_folder(path_);
  }

 private:
  fs::path path_, hidden_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

void check_output_path(const fs::path& path, Overwrite overwrite) {
  check_policy(path, overwrite);
  const fs::path target = target_of(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::exists(folder, error)) {
    throw UserError(
        fmt::format("{}: the directory {} does not exist: create it first", path.string(), folder.string()));
  }
  PartialFile probe(target);  // access(2) would say yes to root on a read-only disk
}

void write_atomically(const fs::path& path, std::span<const std::byte> bytes, Overwrite overwrite) {
  check_policy(path, overwrite);
  const fs::path target = target_of(path);
  remove_leftovers(target);
  PartialFile file(target);
  file.write(bytes);
  file.rename(overwrite);
}

}  // namespace nudge
