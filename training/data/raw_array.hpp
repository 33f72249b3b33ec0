// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Type of the numbers in a data file.
enum class ElementType { u8, i8, u16, i16, u32, i32, u64, i64, f32, f64 };

/// Size of one element in bytes.
std::size_t element_size(ElementType type);

/// A row-major array as it stands in a file (IDX, npy, HDF5), read element by element.
struct RawArray {
  std::string name;          ///< origin, for messages: data file "x.npz", array "labels"
  std::vector<Index> shape;  ///< slowest index first
  ElementType type = ElementType::u8;
  std::endian order = std::endian::native;
  std::string bytes;  ///< count() · element_size(type)

  Index count() const;
  /// Element i in row-major order, as a double (exact for all but 64-bit integers beyond 2⁵³).
  double at(Index i) const;
};

/// Product of sizes; UserError beyond 2³⁴ elements (a damaged header).
Index checked_count(const std::vector<Index>& shape, const std::string& name);

/// Writes a shape as Python does: "(60000, 28, 28)".
std::string shape_text(const std::vector<Index>& shape);

/// Reads all bytes of a regular file; `noun` says what it holds, for messages ("text", "data"). UserError `text file
/// "PATH": …` when it is missing, a directory, not a regular file (a resumed run has to read it again), unreadable, or
/// longer than read_bound().
std::string read_file_bytes(const std::filesystem::path& path, const std::string& noun);

}  // namespace nudge
