// SPDX-License-Identifier: Apache-2.0
// Only for the .cpp files of sim/io: the rest of the program never sees HDF5's own types.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace nudge {

/// Leaves HDF5 as it is when the program exits. Its own clean-up crashes where a file found no memory to be closed; ours are closed as they go out of
/// scope. To be called before anything else of HDF5, by a program that is alone with it.
void leave_hdf5_at_exit();

/// Throws OutOfMemory where HDF5 would soon find no memory: 1.10 corrupts its heap where a small allocation fails. To be called before a file is made
/// or opened.
void h5_expect_room();

/// An HDF5 identifier that is closed when it goes out of scope. A negative identifier is a failed call.
class H5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  H5Handle() = default;
  H5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  H5Handle(H5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  H5Handle& operator=(H5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  H5Handle(const H5Handle&) = delete;
  H5Handle& operator=(const H5Handle&) = delete;
  ~H5Handle() {
    if (id_ >= 0) close_(id_);
  }

  hid_t id() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Guard held during every call into HDF5: a serial HDF5 library may be built without locks of its own. It keeps HDF5 from
/// printing its error stack; h5_error() has the part that matters. It also keeps HDF5 from loading plugins, because a file
/// could choose one by the number of a filter. Other users of the library in this process get their plugins back
/// afterwards.
class H5Session {
 public:
  H5Session();
  H5Session(const H5Session&) = delete;
  H5Session& operator=(const H5Session&) = delete;
  ~H5Session();

  /// Must be called first in a child made by fork() while the parent's thread had a session. The child does not have the
  /// thread that holds the lock.
  static void start_child();

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  unsigned plugins_ = 0;  ///< kinds of plugins that were loaded before
};

/// The innermost message of HDF5's error stack, e.g. " (data error detected by Fletcher32 checksum)", or nothing.
std::string h5_error();

/// Handle of an object that an HDF5 call made; the identifier is negative if the call failed. Errors as h5_need():
/// OutOfMemory or a std::runtime_error.
H5Handle h5_made(hid_t id, H5Handle::Close close, const std::string& what);

/// Checks a call that builds a file in memory, which no user's input can make fail. OutOfMemory where HDF5's error stack says
/// so, else a std::runtime_error "HDF5 could not make WHAT (…)", a bug of ours.
void h5_need(bool ok, const std::string& what);

/// HDF5 type of UTF-8 text: of variable length or, for size > 0, of fixed length padded with zeros.
H5Handle h5_text_type(std::size_t size = 0);

/// Writes an attribute of an object: `data` of an HDF5 type, a list of `count` values or, for a null count, a single one.
void h5_write_attribute(hid_t object, const std::string& name, hid_t type, const void* data,
                        const hsize_t* count = nullptr);

/// A new HDF5 file that never touches a disk. HDF5's file-image callbacks keep the buffer of the closed file. In 1.10.8
/// the image of an open file (H5Fget_file_image) has a superblock with a wrong checksum.
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
