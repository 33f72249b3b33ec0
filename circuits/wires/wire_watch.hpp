// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sim/base/matrix.hpp"

namespace nudge {

/// While it lives, wire solves of many rows that the calling thread starts tell how far they are: `told(done, total)`, in rows
/// of the array, by the calling thread alone. Watches nest, the innermost is told. It changes no result.
class WireWatch {
 public:
  using Told = std::function<void(Index done, Index total)>;

  explicit WireWatch(Told told);
  ~WireWatch();
  WireWatch(const WireWatch&) = delete;
  WireWatch& operator=(const WireWatch&) = delete;

  /// The innermost of this thread; null: nobody watches.
  static const WireWatch* current();
  static void tell(Index done, Index total);
  void hear(Index done, Index total) const { told_(done, total); }

 private:
  Told told_;
  const WireWatch* outer_;
};

}  // namespace nudge
