// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "circuits/terms/convolution.hpp"

namespace nudge::bench {

/// The same convolution and its transpose by oneDNN, whose own layouts everything already lies in: of maps of every pixel followed by its mean
/// pooling (`folded` false), or of one kernel of (k + p − 1)² numbers with stride p, which is the same function (true; p² times fewer places, and
/// ((k + p − 1)/k)² times as many numbers in each). One thread.
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
