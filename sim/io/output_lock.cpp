// SPDX-License-Identifier: Apache-2.0
#include "sim/io/output_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/new_file.hpp"
#include "sim/io/run_record.hpp"

namespace nudge {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLockMark = "nudge lock: ";
constexpr std::size_t kLongestLock = 512;  // a host's name has at most 253 bytes

std::string this_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("process {} on host {}, since {}", ::getpid(), host.data(), now_utc());
}

fs::path lock_beside(const fs::path& target) {
  return target.parent_path() / fmt::format(".{}.lock", target.filename().string());
}

/// Holder named in a lock file of ours; nothing if the file is none of ours.
std::optional<std::string> holder_in(const Descriptor& lock) {
  std::string text = read_at(lock, kLongestLock);
  if (!text.starts_with(kLockMark)) return std::nullopt;
  text = text.substr(kLockMark.size(), text.find('\n') - kLockMark.size());
  return text.empty() ? "another process" : printable_line(text);
}

[[noreturn]] void cannot_lock(const fs::path& output, const std::string& why) {
  throw UserError(fmt::format("{}: cannot be locked: {}", output.string(), why));
}

[[noreturn]] void not_ours(const fs::path& output, const fs::path& lock) {
  cannot_lock(output,
              fmt::format("{} is not a lock file of nudge. Move it away, or choose another output", lock.string()));
}

/// Opens an existing lock file of ours; none if there is no file.
Descriptor existing_lock(const fs::path& output, const fs::path& path) {
  Descriptor lock = open_plain_file(path, O_RDWR);
  if (!lock.ok() && (errno == EACCES || errno == EROFS)) lock = open_plain_file(path, O_RDONLY);  // of another user
  if (!lock.ok() && (errno == ELOOP || errno == EINVAL)) not_ours(output, path);
  if (!lock.ok() && errno != ENOENT)
    cannot_lock(output, fmt::format("{} (choose another output)", std::strerror(errno)));
  if (lock.ok() && !holder_in(lock)) not_ours(output, path);
  return lock;
}

/// Makes the lock as a file that names its holder from the first moment; none if another process was faster.
Descriptor new_lock(const fs::path& output, const fs::path& path) {
  remove_leftovers(path);
  NewFile lock(path, output, 0666);
  const std::string text = fmt::format("{}{}\n", kLockMark, this_process());
  lock.write(std::as_bytes(std::span(text)));
  return lock.take_free_name() ? lock.release() : Descriptor();
}

}  // namespace

std::optional<std::string> output_writer(const fs::path& output) try {
  const Descriptor lock = open_plain_file(lock_beside(output_target(output)), O_RDONLY);
  if (!lock.ok() || ::flock(lock.id(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  return holder_in(lock);
} catch (const UserError&) {
  return std::nullopt;  // a link that is not followed: nobody writes there
}

OutputLock::OutputLock(const fs::path& output) : path_(lock_beside(output_target(output))) {
  const SignalsWait until_registered;
  while (!lock_.ok()) {
    Descriptor found = existing_lock(output, path_);
    if (!found.ok()) {
      lock_ = new_lock(output, path_);
    } else if (::flock(found.id(), LOCK_EX | LOCK_NB) == 0) {  // left by a process that was killed
      if (is_named(found, path_) && ::unlink(path_.c_str()) != 0) {
        cannot_lock(output, fmt::format("{}: {} (left by {}; remove it, or choose another output)", path_.string(),
                                        std::strerror(errno), holder_in(found).value_or("")));
      }
    } else if (errno != EWOULDBLOCK) {
      lock_ = std::move(found);  // a file system without locks
    } else {
      throw UserError(fmt::format("{}: is being written by {} (wait for it, or choose another output)", output.string(),
                                  holder_in(found).value_or("another process")));
    }
  }
  removed_.emplace(path_);
}

OutputLock::~OutputLock() {
  if (lock_.ok() && is_named(lock_, path_)) ::unlink(path_.c_str());
}

}  // namespace nudge
