// SPDX-License-Identifier: Apache-2.0
#include "sim/io/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "sim/base/errors.hpp"

namespace nudge {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMark = "nudge is writing this file, or was ended while it did.\n";
constexpr std::size_t kDigits = 16;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

std::string hidden_prefix(const fs::path& target) { return fmt::format(".{}.partial-", target.filename().string()); }

bool is_hidden_name(const std::string& name, const std::string& prefix) {
  return name.size() == prefix.size() + kDigits && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string::npos;
}

/// True if the file is a leftover as remove_leftovers() defines it.
bool is_leftover(const Descriptor& file, const fs::path& target) {
  struct stat facts {
  }, of_target{};
  if (::fstat(file.id(), &facts) != 0 || facts.st_nlink != 1) return false;
  const bool there = ::lstat(target.c_str(), &of_target) == 0;
  if (facts.st_uid != ::geteuid() && !(there && facts.st_uid == of_target.st_uid)) return false;
  if (::flock(file.id(), LOCK_EX | LOCK_NB) != 0) return false;  // its writer is alive, or that cannot be known
  // An empty one: its writer was killed before it could write the mark.
  return facts.st_size == 0 || read_at(file, kMark.size()) == kMark || has_seal(file);
}

}  // namespace

void cannot_write(const fs::path& shown, int error) {
  const char* advice = error == ENOSPC || error == EDQUOT ? "free some space" : "choose another output";
  throw UserError(fmt::format("{}: cannot be written: {} ({})", shown.string(), std::strerror(error), advice));
}

NewFile::NewFile(fs::path target, fs::path shown, unsigned mode)
    : target_(std::move(target)), shown_(std::move(shown)) {
  constexpr int kTries = 100;
  for (int tries = 1;; ++tries) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) cannot_write(shown_, errno);
    hidden_ = folder_of(target_) / fmt::format("{}{:0{}x}", hidden_prefix(target_), number, kDigits);
    const SignalsWait until_registered;
    file_ = Descriptor(::open(hidden_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file_.ok()) cannot_write(shown_, errno);
    removed_.emplace(hidden_);
    // Another writer may take the file for a leftover until it is locked; some file systems have no locks.
    const bool taken = ::flock(file_.id(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_named(file_, hidden_)) break;
    ::unlink(hidden_.c_str());
    if (tries == kTries) cannot_write(shown_, EBUSY);
  }
  if (write_at(file_, std::as_bytes(std::span(kMark)), 0)) return;
  const int error = errno;
  ::unlink(hidden_.c_str());
  cannot_write(shown_, error);
}

NewFile::~NewFile() {
  if (!hidden_.empty()) ::unlink(hidden_.c_str());
}

/// Writes the bytes in the place of the mark last, so that a file without the mark is complete.
void NewFile::write(std::span<const std::byte> bytes) {
  const std::size_t head = std::min(bytes.size(), kMark.size());
  const bool ok = write_at(file_, bytes.subspan(head), static_cast<std::int64_t>(head)) &&
                  write_at(file_, bytes.first(head), 0) &&
                  (head == kMark.size() || ::ftruncate(file_.id(), static_cast<off_t>(head)) == 0);
  if (!ok) cannot_write(shown_, errno);
}

void NewFile::finish() {
  if (::fsync(file_.id()) != 0 && errno != EINVAL) cannot_write(shown_, errno);
  ::flock(file_.id(), LOCK_SH | LOCK_NB);
}

bool NewFile::take_free_name() {
  const char* from = hidden_.c_str();
  const char* to = target_.c_str();
  int result = ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
  if (result != 0 && errno != EEXIST) {  // a file system without it
    result = ::link(from, to);
    if (result == 0) ::unlink(from);
  }
  if (result != 0 && errno != EEXIST) {  // and without second names: the gap between the check and the name stays open
    struct stat there {};
    errno = ::lstat(to, &there) == 0 ? EEXIST : 0;
    if (errno == 0) result = ::rename(from, to);
  }
  if (result != 0 && errno == EEXIST) return false;
  if (result != 0) cannot_write(shown_, errno);
  hidden_.clear();
  return true;
}

void NewFile::replace_target() {
  if (::rename(hidden_.c_str(), target_.c_str()) != 0) cannot_write(shown_, errno);
  hidden_.clear();
}

void remove_leftovers(const fs::path& target) {
  const std::string prefix = hidden_prefix(target);
  std::error_code error;
  for (fs::directory_iterator at(folder_of(target), error), end; !error && at != end; at.increment(error)) {
    if (!is_hidden_name(at->path().filename().string(), prefix)) continue;
    const Descriptor file = open_plain_file(at->path(), O_RDWR);
    if (file.ok() && is_leftover(file, target) && is_named(file, at->path())) ::unlink(at->path().c_str());
  }
}

void flush_folder_of(const fs::path& path) {
  const Descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.ok()) ::fsync(folder.id());
}

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
