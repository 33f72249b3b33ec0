// SPDX-License-Identifier: Apache-2.0
#include "sim/io/h5_memory_file.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace nudge {

namespace {

/// Place of the end-of-file address in a version 3 superblock (HDF5 File Format Specification 3.0, section II.A): the
/// signature (8), four single bytes, the base address (8) and the superblock extension address (8) come before it.
constexpr std::size_t end_of_file_at = 8 + 4 + 8 + 8;

void* make(std::size_t size, H5FD_file_image_op_t /*op*/, void* /*image*/) { return std::malloc(size); }

void* copy(void* to, const void* from, std::size_t size, H5FD_file_image_op_t /*op*/, void* /*image*/) {
  return std::memcpy(to, from, size);
}

void* grow(void* buffer, std::size_t size, H5FD_file_image_op_t /*op*/, void* /*image*/) {
  return std::realloc(buffer, size);
}

herr_t keep_at_close(void* buffer, H5FD_file_image_op_t op, void* image) {
  if (op == H5FD_FILE_IMAGE_OP_FILE_CLOSE) {
    std::free(std::exchange(*static_cast<void**>(image), buffer));
  } else {
    std::free(buffer);
  }
  return 0;
}

void* share(void* image) { return image; }
herr_t unshare(void* /*image*/) { return 0; }

}  // namespace

H5MemoryFile::H5MemoryFile() {
  const H5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5FD_file_image_callbacks_t callbacks{make, copy, grow, keep_at_close, share, unshare, static_cast<void*>(&image_)};
  H5Pset_fapl_core(access.id(), std::size_t{1} << 20, 0);               // grows by 1 MiB
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110);  // the first format that checksums chunk indexes
  H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
  const bool ok = H5Pset_file_image_callbacks(access.id(), &callbacks) >= 0;
  file_ = ok ? H5Fcreate("nudge-document", H5F_ACC_TRUNC, H5P_DEFAULT, access.id()) : -1;
  if (file_ < 0) throw std::runtime_error("HDF5 could not make a file in memory" + h5_error());
}

H5MemoryFile::~H5MemoryFile() {
  if (file_ >= 0) H5Fclose(file_);
  std::free(image_);
}

std::vector<std::byte> H5MemoryFile::take() {
  if (H5Fclose(std::exchange(file_, -1)) < 0 || image_ == nullptr) {
    throw std::runtime_error("HDF5 could not finish a file in memory" + h5_error());
  }
  std::uint64_t size = 0;
  const auto* begin = static_cast<const std::byte*>(image_);
  std::memcpy(&size, begin + end_of_file_at, sizeof size);
  return {begin, begin + size};
}

}  // namespace nudge
