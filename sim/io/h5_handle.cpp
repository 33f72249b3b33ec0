// SPDX-License-Identifier: Apache-2.0
#include "sim/io/h5_handle.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "sim/base/out_of_memory.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {
namespace {

std::recursive_mutex& session_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

herr_t keep_first(unsigned /*n*/, const H5E_error2_t* error, void* text) {
  auto& out = *static_cast<std::string*>(text);
  if (out.empty() && error->desc != nullptr) out = error->desc;
  return 0;
}

/// Finds "No space available for allocation" and its like on the error stack: HDF5's text where malloc() gave nothing.
herr_t find_no_memory(unsigned /*n*/, const H5E_error2_t* error, void* found) {
  if (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC) *static_cast<bool*>(found) = true;
  return 0;
}

}  // namespace

void leave_hdf5_at_exit() { H5dont_atexit(); }

void h5_expect_room() {
  constexpr std::size_t kRoom =
      8U << 20U;  // a small run failed with 1 MB left and was written with 2; the rest is margin
  void* volatile room = std::malloc(kRoom);  // volatile: a compiler may leave out what is freed at once
  const bool none = room == nullptr;
  std::free(room);
  if (none) throw OutOfMemory("fewer than 8 MB are left for a file");
}

H5Session::H5Session() : lock_(session_mutex()) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLget_loading_state(&plugins_);
  H5PLset_loading_state(0);
}

H5Session::~H5Session() { H5PLset_loading_state(plugins_); }

void H5Session::start_child() { new (&session_mutex()) std::recursive_mutex; }

std::string h5_error() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  return text.empty() ? "" : " (" + text + ")";
}

void h5_need(bool ok, const std::string& what) {
  if (ok) return;
  bool no_memory = false;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_no_memory, &no_memory);
  if (no_memory) throw OutOfMemory("HDF5 has no memory for " + what);
  throw std::runtime_error("HDF5 could not make " + what + h5_error());
}

H5Handle h5_made(hid_t id, H5Handle::Close close, const std::string& what) {
  h5_need(id >= 0, what);
  return {id, close};
}

H5Handle h5_text_type(std::size_t size) {
  H5Handle type = h5_made(H5Tcopy(H5T_C_S1), H5Tclose, "a type of text");
  const bool set = H5Tset_size(type.id(), size == 0 ? H5T_VARIABLE : size) >= 0 &&
                   H5Tset_cset(type.id(), H5T_CSET_UTF8) >= 0 &&
                   H5Tset_strpad(type.id(), size == 0 ? H5T_STR_NULLTERM : H5T_STR_NULLPAD) >= 0;
  h5_need(set, "a type of text");
  return type;
}

void h5_write_attribute(hid_t object, const std::string& name, hid_t type, const void* data, const hsize_t* count) {
  const std::string what = "attribute " + name;
  const H5Handle space =
      h5_made(count == nullptr ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, count, nullptr), H5Sclose, what);
  const H5Handle made(H5Acreate2(object, name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  h5_need(made.ok() && H5Awrite(made.id(), type, data) >= 0, what);
}

std::string to_string(const H5Shape& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ", ";
    out += shape[i] < 0 ? "any" : std::to_string(shape[i]);
  }
  return out + (shape.size() == 1 ? ",)" : ")");
}

std::string_view to_string(H5Type type) {
  switch (type) {
    case H5Type::real32: return "float32";
    case H5Type::real64: return "float64";
    case H5Type::integer: return "integer";
    case H5Type::text: return "text";
    case H5Type::other: return "other";
  }
  return "other";
}

namespace {

/// Place of the end-of-file address in a version 3 superblock (HDF5 File Format Specification 3.0, section II.A): the
/// signature (8), four single bytes, the base address (8) and the superblock extension address (8) come before it.
constexpr std::size_t end_of_file_at = 8 + 4 + 8 + 8;

void* make(std::size_t size, H5FD_file_image_op_t /*op*/, void* /*image*/) { return std::malloc(size); }

/// HDF5's callback that copies a file image of `size` bytes; op and image are not needed.
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
  h5_expect_room();
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
