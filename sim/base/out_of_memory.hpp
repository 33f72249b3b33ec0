// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <string>
#include <utility>

namespace nudge {

/// There is no memory for something that is named. A std::bad_alloc, so that whoever minds memory minds it too.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// What a C library has made, which tells by a null pointer that it has no memory. OutOfMemory "KLU has no memory for the order of 1000
/// unknowns".
template <class T>
T* made_by(const char* library, T* made, const std::string& what) {
  if (made == nullptr) throw OutOfMemory(std::string(library) + " has no memory for " + what);
  return made;
}

}  // namespace nudge
