// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "sim/io/descriptor.hpp"

namespace nudge {

// HDF5 does not checksum variable-length text, and 1.10.8 may crash on a damaged one. So nudge's files end with a seal of
// 16 bytes behind the HDF5 data: the 8 characters "nudgeFNV" and the 64-bit FNV-1a hash of all bytes before the seal, least
// significant byte first. HDF5 ignores what follows its end of file; a program that edits the file drops the seal.

/// FNV-1a, 64 bit, of all bytes (draft-eastlake-fnv, section 5).
std::uint64_t fnv_1a(std::span<const std::byte> bytes);

/// Appends the seal.
void seal(std::vector<std::byte>& bytes);

/// Whether the file ends with a seal that does not fit its contents: it is damaged. False without a seal.
bool seal_is_broken(const std::filesystem::path& path);

/// Whether the file ends with a seal, whole or broken.
bool has_seal(const std::filesystem::path& path);
bool has_seal(const Descriptor& file);

}  // namespace nudge
