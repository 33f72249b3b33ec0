// SPDX-License-Identifier: Apache-2.0
#include "sim/io/output_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/base/errors.hpp"
#include "sim/io/run_record.hpp"

namespace nudge {
namespace {

std::string holder_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str().empty() ? "another process" : text.str();
}

std::string this_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("process {} on host {}, since {}", ::getpid(), host.data(), now_utc());
}

/// Whether the file that is open is still the one of this name: its last holder may have removed it.
bool still_named(int descriptor, const std::filesystem::path& path) {
  struct stat open_file {
  }, named{};
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

std::filesystem::path lock_of(const std::filesystem::path& output) {
  return output.parent_path() / fmt::format(".{}.lock", output.filename().string());
}

}  // namespace

std::optional<std::string> output_writer(const std::filesystem::path& output) {
  const std::filesystem::path path = lock_of(output);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);  // gives up what was not held
  return held ? std::optional<std::string>(holder_of(path)) : std::nullopt;
}

OutputLock::OutputLock(const std::filesystem::path& output) : path_(lock_of(output)) {
  do {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      throw UserError(
          fmt::format("{}: cannot be locked: {} (choose another output)", output.string(), std::strerror(errno)));
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return;  // a file system without locks
      ::close(descriptor_);
      throw UserError(fmt::format("{}: is being written by {} (wait for it, or choose another output)", output.string(),
                                  holder_of(path_)));
    }
  } while (!still_named(descriptor_, path_));
  const std::string holder = this_process();
  // The lock holds whether or not its holder's name can be written.
  if (::ftruncate(descriptor_, 0) == 0) static_cast<void>(!::write(descriptor_, holder.data(), holder.size()));
}

OutputLock::~OutputLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace nudge
