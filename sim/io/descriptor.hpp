// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nudge {

/// An open file of the system that is closed when it goes out of scope; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int id) : id_(id) {}
  Descriptor(Descriptor&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int id() const { return id_; }
  bool ok() const { return id_ >= 0; }

  /// Closes the file. Returns 0, or -1 with errno: then written data may be lost.
  int close();

 private:
  int id_ = -1;
};

/// Opens a plain file that exists (`access`: O_RDONLY, O_WRONLY or O_RDWR). Never follows a link of that name, never waits for
/// the other end of a pipe. The file is closed in programs that are started. None with errno otherwise: ELOOP for a symbolic
/// link, EINVAL for other things that are no plain file.
Descriptor open_plain_file(const std::filesystem::path& path, int access);

/// True if the open file is the one of this name, and the name is no link to it.
bool is_named(const Descriptor& file, const std::filesystem::path& path);

/// Reads at most `most` bytes at the place `from`; fewer at the end of the file or where it cannot be read.
std::string read_at(const Descriptor& file, std::size_t most, std::int64_t from = 0);

/// Writes all bytes at the place `from`; false with errno.
bool write_at(const Descriptor& file, std::span<const std::byte> bytes, std::int64_t from);

// HDF5 does not checksum variable-length text, and 1.10.8 may crash on a damaged one. So nudge's files end with a seal of
// 16 bytes behind the HDF5 data: the 8 characters "nudgeFNV" and the 64-bit FNV-1a hash of all bytes before the seal, least
// significant byte first. HDF5 ignores what follows its end of file; a program that edits the file drops the seal.

/// FNV-1a, 64 bit, of all bytes (draft-eastlake-fnv, section 5).
std::uint64_t fnv_1a(std::span<const std::byte> bytes);

/// Appends the seal (16 bytes: "nudgeFNV" and the FNV-1a hash) to the bytes of a file.
void seal(std::vector<std::byte>& bytes);

/// True if the file ends with a seal that does not fit its contents: it is damaged. False without a seal.
bool seal_is_broken(const std::filesystem::path& path);

/// True if the file ends with a seal, whole or broken.
bool has_seal(const std::filesystem::path& path);
bool has_seal(const Descriptor& file);

}  // namespace nudge
