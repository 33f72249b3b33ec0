// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Sizes of a dataset, slowest index first; empty for a scalar. In an expected shape, -1 stands for any size.
using H5Shape = std::vector<Index>;

/// Value of an attribute.
using H5Attribute = std::variant<std::int64_t, double, std::string>;

/// Type of the elements of a dataset: float32, float64, an integer of up to 64 bits, text, or a type nudge never writes.
enum class H5Type { real32, real64, integer, text, other };

/// Meaning of a dataset for its readers: unit ("1" for a pure number), one sentence, and a name per dimension.
struct H5Meaning {
  std::string unit = "1";
  std::string description;
  std::vector<std::string> dimensions;
};

/// Shape as Python writes it: "(12, 40)", "(5,)" or "()"; -1 prints as "any".
std::string to_string(const H5Shape& shape);

/// Name of a type: "float32", "float64", "integer", "text" or "other".
std::string_view to_string(H5Type type);

/// Choice whether NaN and infinities in a dataset are the user's error.
enum class NonFinite { allowed, rejected };

/// An HDF5 file opened for reading. Every error is a UserError that names the file and the object. The file may be
/// missing, not HDF5, truncated, or have a failed checksum. A dataset may be missing, have another type or shape than
/// expected, or have its values in another file. Example:
///     cases.h5: params/Wm: shape (12, 40) expected, found (12, 41)
/// Paths of objects are written "group/name", a leading slash is allowed. Safe to use from several threads.
class H5Reader {
 public:
  explicit H5Reader(const std::filesystem::path& path);
  ~H5Reader();
  H5Reader(H5Reader&&) noexcept;
  H5Reader& operator=(H5Reader&&) noexcept;

  /// Path of the file as given, for messages.
  const std::string& name() const;

  /// True if a group or dataset exists at the path.
  bool has(const std::string& object) const;

  /// Names (not paths) of the groups, and of the datasets, directly in a group, in alphabetical order.
  std::vector<std::string> groups(const std::string& group = "/") const;
  std::vector<std::string> datasets(const std::string& group = "/") const;

  /// Paths of all datasets at or below a group, without leading slash.
  std::vector<std::string> all_datasets(const std::string& group = "/") const;

  H5Type type(const std::string& dataset) const;
  H5Shape shape(const std::string& dataset) const;
  H5Meaning meaning(const std::string& dataset) const;

  /// Names of the attributes of an object that are a single integer, real or text.
  std::vector<std::string> attributes(const std::string& object = "/") const;
  bool has_attribute(const std::string& attribute, const std::string& object = "/") const;
  H5Attribute attribute(const std::string& attribute, const std::string& object = "/") const;
  std::int64_t integer_attribute(const std::string& attribute, const std::string& object = "/") const;
  /// Value of an attribute that is a real number or an integer.
  double real_attribute(const std::string& attribute, const std::string& object = "/") const;
  std::string text_attribute(const std::string& attribute, const std::string& object = "/") const;

  /// Names of the attributes of an object that are a list (one dimension) of integers; a second function returns such a
  /// list. A single integer is a list of one.
  std::vector<std::string> integer_lists(const std::string& object = "/") const;
  std::vector<std::int64_t> integer_list_attribute(const std::string& attribute, const std::string& object = "/") const;

  /// Values of float32 or float64 data as S, in the file's (row-major) order.
  template <class S>
  std::vector<S> reals(const std::string& dataset, const std::optional<H5Shape>& expected = std::nullopt,
                       NonFinite non_finite = NonFinite::allowed) const;

  /// Values of float32 or float64 data as a matrix. All dimensions but the last are rows: (B, T, C) becomes (B·T, C), (n)
  /// one row, () 1 x 1.
  template <class S>
  Matrix<S> matrix(const std::string& dataset, const std::optional<H5Shape>& expected = std::nullopt,
                   NonFinite non_finite = NonFinite::allowed) const;

  std::vector<std::int64_t> integers(const std::string& dataset,
                                     const std::optional<H5Shape>& expected = std::nullopt) const;
  std::vector<std::string> texts(const std::string& dataset,
                                 const std::optional<H5Shape>& expected = std::nullopt) const;

  /// Throws the UserError "file: object: problem", also for checks that a caller adds.
  [[noreturn]] void fail(const std::string& object, const std::string& problem) const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

/// Place of the first NaN or infinity, or nothing.
template <class S>
std::optional<std::size_t> first_non_finite(std::span<const S> values);

}  // namespace nudge
