// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "sim/io/h5_handle.hpp"

namespace nudge {

/// A new HDF5 file that never touches a disk. HDF5's image of an open file (H5Fget_file_image) has a superblock with a
/// wrong checksum in 1.10.8, so the buffer of the closed file is kept instead, through HDF5's file-image callbacks.
class H5MemoryFile {
 public:
  H5MemoryFile();
  H5MemoryFile(const H5MemoryFile&) = delete;
  H5MemoryFile& operator=(const H5MemoryFile&) = delete;
  ~H5MemoryFile();

  hid_t id() const { return file_; }

  /// Closes the file and returns its bytes.
  std::vector<std::byte> take();

 private:
  void* image_ = nullptr;  // HDF5's buffer after the file was closed
  hid_t file_ = -1;
};

}  // namespace nudge
