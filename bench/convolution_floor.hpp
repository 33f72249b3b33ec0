// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "circuits/terms/convolution.hpp"

namespace nudge::bench {

/// Convolution and its transpose by oneDNN, with all data already in its own layouts. `folded` false: the maps of every
/// pixel, then their mean pooling. `folded` true: one kernel of (k + p − 1)² numbers with stride p, which is the same
/// function; it has p² times fewer places and ((k + p − 1)/k)² times as many numbers in each. One thread.
class ConvolutionFloor {
 public:
  ConvolutionFloor(const Convolution& shape, Index samples, bool folded);
  ~ConvolutionFloor();

  void forward();
  void transposed();
  static bool available();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace nudge::bench
