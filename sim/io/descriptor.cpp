// SPDX-License-Identifier: Apache-2.0
#include "sim/io/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace nudge {

int Descriptor::close() {
  const int open = std::exchange(id_, -1);
  return open < 0 ? 0 : ::close(open);
}

Descriptor open_plain_file(const std::filesystem::path& path, int access) {
  struct stat now {};
  if (::lstat(path.c_str(), &now) != 0) return {};
  if (!S_ISREG(now.st_mode)) {  // a device is not even opened: that may do something
    errno = S_ISLNK(now.st_mode) ? ELOOP : EINVAL;
    return {};
  }
  Descriptor file(::open(path.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.ok() && (::fstat(file.id(), &now) != 0 || !S_ISREG(now.st_mode))) {
    file = Descriptor();
    errno = EINVAL;
  }
  return file;
}

bool is_named(const Descriptor& file, const std::filesystem::path& path) {
  struct stat open {
  }, named{};
  return ::fstat(file.id(), &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

std::string read_at(const Descriptor& file, std::size_t most, std::int64_t from) {
  std::string out(most, '\0');
  std::size_t done = 0;
  while (done < most) {
    const ssize_t n = ::pread(file.id(), out.data() + done, most - done, from + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  out.resize(done);
  return out;
}

bool write_at(const Descriptor& file, std::span<const std::byte> bytes, std::int64_t from) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file.id(), bytes.data(), bytes.size(), from);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    from += n;
  }
  return true;
}

}  // namespace nudge
