// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/io/h5_handle.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

struct H5Reader::File {
  static constexpr std::size_t deepest_group = 64;  ///< ours lie four deep

  std::string name;
  mutable std::string other_file;  ///< the last one that a link led to
  H5Handle links;                  ///< how links are followed
  H5Handle file;
  mutable H5Handle
      last;  ///< the object that was opened last: its type, shape, unit and values are asked for one after the other
  mutable std::string last_path;
  mutable bool last_is_readable = false;  ///< a dataset whose values are its own

  void open_file();

  /// All that the functions of a reader can read, for what may go wrong on the way.
  void read_everything(const H5Reader& reader) const;

  /// Of everything in a group, in alphabetical order.
  std::vector<std::string> names(const std::string& group) const;

  struct Members {
    std::vector<std::string> groups, datasets;
  };
  /// The same apart, but for dimension scales without values, which are no data.
  Members members(const std::string& group) const;

  /// The same text for every path of an object, which may have several.
  std::string identity(const std::string& object) const;

  /// The object's path with exactly one leading slash.
  static std::string absolute(const std::string& object);
  bool exists(const std::string& object) const;
  [[noreturn]] void fail(const std::string& object, const std::string& problem) const;
  [[noreturn]] void fail_damaged(const std::string& object) const;
  [[noreturn]] void fail_missing(const std::string& object) const;
  H5Handle open(const std::string& object) const;           ///< group or dataset
  H5Handle open_dataset(const std::string& dataset) const;  ///< whose values are its own
  H5Handle open_group(const std::string& group) const;
};

/// Facts about an open dataset.
H5Type h5_type(hid_t type);
H5Shape h5_shape(hid_t space);

/// Text of one open attribute or dataset, read by the callback into memory of the given type.
using H5ReadText = herr_t (*)(hid_t object, hid_t memory_type, void* out);
bool h5_read_texts(hid_t object, hid_t type, hid_t space, H5ReadText read, std::vector<std::string>& out);

}  // namespace nudge
