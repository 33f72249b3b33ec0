// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/io/h5_handle.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

struct H5Reader::File {
  static constexpr std::size_t deepest_group = 64;  ///< limit on nested groups; nudge's files have four levels

  std::string name;
  mutable std::string other_file;  ///< file that the last external link led to
  H5Handle links;                  ///< property list for following links within the file
  H5Handle file;
  mutable H5Handle last;  ///< object opened last: its type, shape, unit and values are asked for one after the other
  mutable std::string last_path;
  mutable bool last_is_readable = false;  ///< true if `last` is a dataset whose values lie in this file

  void open_file();

  /// Reads everything that the functions of a reader can read, so that a damaged file fails here.
  void read_everything(const H5Reader& reader) const;

  /// Names of all members of a group, in alphabetical order.
  std::vector<std::string> names(const std::string& group) const;

  struct Members {
    std::vector<std::string> groups, datasets;
  };
  /// Groups and datasets of a group, apart. Dimension scales without values are left out: they are no data.
  Members members(const std::string& group) const;

  /// Text that is the same for every path of one object, which may have several.
  std::string identity(const std::string& object) const;

  /// The object's path with exactly one leading slash.
  static std::string absolute(const std::string& object);
  bool exists(const std::string& object) const;
  [[noreturn]] void fail(const std::string& object, const std::string& problem) const;
  [[noreturn]] void fail_damaged(const std::string& object) const;
  [[noreturn]] void fail_missing(const std::string& object) const;
  H5Handle open(const std::string& object) const;           ///< group or dataset
  H5Handle open_dataset(const std::string& dataset) const;  ///< only if its values lie in this file
  H5Handle open_group(const std::string& group) const;
};

/// Facts about an open dataset.
H5Type h5_type(hid_t type);
H5Shape h5_shape(hid_t space);

/// Text of one open attribute or dataset, read by the callback into memory of the given type.
using H5ReadText = herr_t (*)(hid_t object, hid_t memory_type, void* out);
bool h5_read_texts(hid_t object, hid_t type, hid_t space, H5ReadText read, std::vector<std::string>& out);

}  // namespace nudge
