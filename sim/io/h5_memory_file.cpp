// SPDX-License-Identifier: Apache-2.0
#include "sim/io/h5_memory_file.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
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
  const char* const what = "a file in memory";
  const H5Handle access = h5_made(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what);
  H5FD_file_image_callbacks_t callbacks{make, copy, grow, keep_at_close, share, unshare, static_cast<void*>(&image_)};
  h5_need(H5Pset_fapl_core(access.id(), std::size_t{1} << 20, 0) >= 0, what);  // grows by 1 MiB
  // The first format that checksums chunk indexes.
  h5_need(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0, what);
  h5_need(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG) >= 0, what);
  h5_need(H5Pset_file_image_callbacks(access.id(), &callbacks) >= 0, what);
  file_ = H5Fcreate("nudge-document", H5F_ACC_TRUNC, H5P_DEFAULT, access.id());
  h5_need(file_ >= 0, what);
}

H5MemoryFile::~H5MemoryFile() {
  if (file_ >= 0) H5Fclose(file_);
  std::free(image_);
}

std::vector<std::byte> H5MemoryFile::take() {
  h5_need(H5Fclose(std::exchange(file_, -1)) >= 0 && image_ != nullptr, "the end of a file in memory");
  std::uint64_t size = 0;
  const auto* begin = static_cast<const std::byte*>(image_);
  std::memcpy(&size, begin + end_of_file_at, sizeof size);
  return {begin, begin + size};
}

}  // namespace nudge
