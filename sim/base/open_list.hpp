// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nudge {

/// Things with a `name` that a config or a command line chooses from: ours, and what a program adds before it begins
/// (examples/out_of_tree). From its first use on the list is fixed: keys, help and messages have been made from it. Not for threads:
/// what is added is added at the start of main().
template <class T>
class OpenList {
 public:
  explicit OpenList(std::vector<T> own) : list_(std::move(own)) {}

  /// std::logic_error for a name that is there, and when the list is in use.
  void add(T more) {
    if (used_) throw std::logic_error("\"" + more.name + "\" is added after nudge has begun");
    for (const T& one : list_) {
      if (one.name == more.name) throw std::logic_error("\"" + more.name + "\" is there already");
    }
    list_.push_back(std::move(more));
  }

  const std::vector<T>& all() {
    used_ = true;
    return list_;
  }

 private:
  std::vector<T> list_;
  bool used_ = false;
};

}  // namespace nudge
