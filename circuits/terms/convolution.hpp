// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Convolution with pooling, u = avgpool_p(conv(r, K)). It is the cross-correlation of C_in maps of H × W, in a border of P zeros, with
/// kernels K [C_out, C_in, k, k] at every s-th place, then the mean of p × p blocks. A stride s of 1 and P = (k − 1)/2 keep height and
/// width. Maps lie in a row as (c, y, x), row-major. Conventions as PyTorch's conv2d and avg_pool2d.
///
/// Both are linear, so u is a product at every pooled position. It is the mean of the p² patches there, (C_in k k), times the matrix of
/// the kernels, (C_in k k, C_out). The matrix's row (c, y, x) of column o is K[o, c, y, x]. An array that holds this matrix is read once
/// per pooled position; its drives are averaged first.
struct Convolution {
  Index channels = 1, height = 1, width = 1;  ///< size of its input
  Index maps = 1;                             ///< C_out
  Index kernel = 1;                           ///< k, odd where the padding is same_size
  Index pool = 1;                             ///< p, divides height and width of the convolution
  Index stride = 1;                           ///< s
  Index padding = same_size;                  ///< P

  static constexpr Index same_size = -1;  ///< (k − 1)/2

  Index border() const { return padding == same_size ? (kernel - 1) / 2 : padding; }
  /// Places of the kernel along a side of n pixels, before pooling; below 1: the kernel does not fit.
  Index places(Index n) const { return n + 2 * border() < kernel ? 0 : (n + 2 * border() - kernel) / stride + 1; }
  /// Size of a map that it leaves.
  Index pooled_height() const { return places(height) / pool; }
  Index pooled_width() const { return places(width) / pool; }
  Index inputs() const { return channels * height * width; }
  Index outputs() const { return maps * positions(); }
  Index positions() const { return pooled_height() * pooled_width(); }
  Index patch() const { return channels * kernel * kernel; }
};

/// Drives of the kernels of a convolution, and the way back. The mean of the p × p pixels, s apart, from every pixel of a map on is
/// formed once. A row of a patch is then k of these means side by side. One per thread: it has their memory.
template <class S>
class Patches {
 public:
  explicit Patches(const Convolution& shape);

  /// Computes patches (n·positions, patch) of x (n, inputs): row i·positions + q is the mean patch of row i at pooled position q.
  void gather(ConstMatrixRef<S> x, MatrixRef<S> patches);
  /// Adds to x the transpose of gather(), from patches (n·positions, patch).
  void scatter(ConstMatrixRef<S> patches, MatrixRef<S> x);

 private:
  void take_means(const S* map, Index channel);
  void give_means(Index channel, S* map);
  template <class Kernel, class Act>
  void each_stretch(Kernel kernel, Act act);

  /// Reach of a mean beyond its first pixel.
  Index reach() const { return shape_.stride * (shape_.pool - 1); }
  S* means(Index channel);

  Convolution shape_;
  Index rows_, cols_;  ///< size of the means of a map
  Matrix<S> padded_;   ///< a map in its border of zeros
  Matrix<S> means_;    ///< means of all channels, below one another, each in a border of s (p − 1) zeros
  std::vector<S> row_;
};

/// Rearranges u (n, maps·positions), maps first, as rows by position (n·positions, maps); add_positions() adds them back to u.
template <class S>
void to_positions(Index maps, ConstMatrixRef<S> u, MatrixRef<S> rows);
template <class S>
void add_positions(Index maps, ConstMatrixRef<S> rows, MatrixRef<S> u);

}  // namespace nudge
