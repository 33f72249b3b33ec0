// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <string>
#include <utility>

namespace nudge {

/// Error: no memory for a named thing. It is a std::bad_alloc, so that every handler of memory errors catches it.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// Returns `made`, an object of a C library that reports missing memory by a null pointer. Null throws OutOfMemory, for
/// example "KLU has no memory for the order of 1000 unknowns".
template <class T>
T* made_by(const char* library, T* made, const std::string& what) {
  if (made == nullptr) throw OutOfMemory(std::string(library) + " has no memory for " + what);
  return made;
}

}  // namespace nudge
