// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/io/h5_handle.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

struct H5Reader::File {
  std::string name;
  H5Handle file;

  void open_file();

  /// The object's path with exactly one leading slash.
  static std::string absolute(const std::string& object);
  bool exists(const std::string& object) const;
  [[noreturn]] void fail(const std::string& object, const std::string& problem) const;
  [[noreturn]] void fail_damaged(const std::string& object) const;
  H5Handle open(const std::string& object) const;  ///< group or dataset
  H5Handle open_dataset(const std::string& dataset) const;
  H5Handle open_group(const std::string& group) const;
};

/// Facts about an open dataset.
H5Type h5_type(hid_t type);
H5Shape h5_shape(hid_t space);

/// Text of one open attribute or dataset, read by the callback into memory of the given type.
using H5ReadText = herr_t (*)(hid_t object, hid_t memory_type, void* out);
bool h5_read_texts(hid_t object, hid_t type, hid_t space, H5ReadText read, std::vector<std::string>& out);

}  // namespace nudge
