// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace nudge {

/// Objects of layers beside their weights, each made when first asked for and then shared. A plan whose network is
/// never made takes no memory for them. Safe to ask from several threads.
template <class T>
class MadeOnce {
 public:
  using Make = std::function<std::shared_ptr<const T>(std::size_t layer)>;
  MadeOnce(std::size_t layers, Make make) : made_(layers), asked_(layers, false), make_(std::move(make)) {}

  std::shared_ptr<const T> of(std::size_t layer) {
    const std::lock_guard lock(mutex_);
    if (!asked_[layer]) {
      made_[layer] = make_(layer);
      asked_[layer] = true;
    }
    return made_[layer];
  }

 private:
  std::vector<std::shared_ptr<const T>> made_;
  std::vector<bool> asked_;
  Make make_;
  std::mutex mutex_;
};

}  // namespace nudge
