// SPDX-License-Identifier: Apache-2.0
#include "sim/io/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>

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

namespace {

constexpr std::string_view magic = "nudgeFNV";
constexpr std::size_t seal_bytes = 16;

/// FNV-1a, 64 bit: offset basis and prime of draft-eastlake-fnv, section 5. Every step is a bijection of the hash, so a
/// single changed byte always changes it.
constexpr std::uint64_t basis = 0xcbf29ce484222325u, prime = 0x100000001b3u;

std::uint64_t hash(std::span<const std::byte> bytes, std::uint64_t state) {
  for (const std::byte b : bytes) state = (state ^ static_cast<std::uint64_t>(b)) * prime;
  return state;
}

std::array<std::byte, seal_bytes> seal_of(std::uint64_t hash) {
  std::array<std::byte, seal_bytes> out{};
  for (std::size_t i = 0; i < 8; ++i) {
    out[i] = static_cast<std::byte>(magic[i]);
    out[8 + i] = static_cast<std::byte>(hash >> (8 * i) & 0xffu);
  }
  return out;
}

/// True if the file ends within its seal: after at least half of the magic, and before the end of the hash behind it.
bool ends_within_seal(std::ifstream& in, std::int64_t size) {
  constexpr std::int64_t least = 4;
  for (std::int64_t left = static_cast<std::int64_t>(seal_bytes) - 1; left >= least; --left) {
    if (size < left) continue;
    std::array<char, seal_bytes> end{};
    in.clear();
    in.seekg(size - left);
    in.read(end.data(), left);
    const auto shown = std::min<std::size_t>(static_cast<std::size_t>(left), magic.size());
    if (in && std::string_view(end.data(), shown) == magic.substr(0, shown)) return true;
  }
  in.clear();
  return false;
}

}  // namespace

std::uint64_t fnv_1a(std::span<const std::byte> bytes) { return hash(bytes, basis); }

void seal(std::vector<std::byte>& bytes) {
  const auto end = seal_of(fnv_1a(bytes));
  bytes.insert(bytes.end(), end.begin(), end.end());
}

bool seal_is_broken(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::int64_t>(in.tellg());
  if (size < static_cast<std::int64_t>(seal_bytes)) return false;
  std::array<std::byte, seal_bytes> found{};
  in.seekg(size - static_cast<std::int64_t>(seal_bytes));
  in.read(reinterpret_cast<char*>(found.data()), seal_bytes);
  const auto none = seal_of(0);
  if (!in) return false;
  if (!std::equal(none.begin(), none.begin() + 8, found.begin())) return ends_within_seal(in, size);
  in.seekg(0);
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  std::uint64_t state = basis;
  for (std::int64_t left = size - static_cast<std::int64_t>(seal_bytes); left > 0;) {
    const auto take = std::min(left, static_cast<std::int64_t>(buffer.size()));
    if (!in.read(reinterpret_cast<char*>(buffer.data()), take)) return true;
    state = hash(std::span(buffer).first(static_cast<std::size_t>(take)), state);
    left -= take;
  }
  return found != seal_of(state);
}

bool has_seal(const Descriptor& file) {
  struct stat facts {};
  if (::fstat(file.id(), &facts) != 0 || facts.st_size < static_cast<off_t>(seal_bytes)) return false;
  return read_at(file, magic.size(), facts.st_size - static_cast<off_t>(seal_bytes)) == magic;
}

bool has_seal(const std::filesystem::path& path) {
  return has_seal(Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)));
}

}  // namespace nudge
