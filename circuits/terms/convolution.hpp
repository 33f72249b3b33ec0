// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Convolution with pooling, u = pool_p(conv(r, K)). conv is the cross-correlation of C_in maps of H × W with kernels K [C_out, C_in, k,
/// k]. A border of P zeros surrounds the maps, and kernels stand s apart. With s = 1 and P = (k − 1)/2 height and width stay. pool is the
/// mean of p × p blocks. Maps lie in a row as (c, y, x), row-major. Conventions as in PyTorch's conv2d and avg_pool2d.
///
/// With `maximum` pool is the largest value of a block (Ernoult et al., arXiv:1905.13633; Laborieux et al., arXiv:2006.03824). An array
/// is then read at every place. What comes back goes to the place that was largest (Chosen).
///
/// The mean is linear, so u is a product at every pooled position. It is the mean of the p² patches there, (C_in k k), times the matrix of
/// the kernels, (C_in k k, C_out). The matrix's row (c, y, x) of column o is K[o, c, y, x]. An array that holds this matrix is read once
/// per pooled position; its drives are averaged first.
struct Convolution {
  Index channels = 1, height = 1, width = 1;  ///< size of its input
  Index maps = 1;                             ///< C_out
  Index kernel = 1;                           ///< k, odd where the padding is same_size
  Index pool = 1;                             ///< p, divides height and width of the convolution
  Index stride = 1;                           ///< s
  Index padding = same_size;                  ///< P
  bool maximum = false;                       ///< u is the largest value of a block, not its mean

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
  /// Convolution without its pooling, which an array is read for where blocks give their largest value.
  Convolution unpooled() const {
    Convolution all = *this;
    all.pool = 1;
    all.maximum = false;
    return all;
  }
  /// Number of reads of an array for one sample.
  Index reads() const { return maximum ? places(height) * places(width) : positions(); }
};

/// Places of the largest values of the blocks, for n rows: number of the place of every pooled unit, (n, maps·positions).
struct Chosen {
  Index rows = 0;
  std::vector<Index> place = {};
};

/// Chooses the places of the largest of values (n·places, maps), the first among equals.
template <class S>
void choose(const Convolution& shape, ConstMatrixRef<S> values, Chosen& chosen);
/// Adds the chosen of values (n·places, maps) to u (n, maps·positions). Row i takes the choice of row (first + i) mod rows.
template <class S>
void add_chosen(const Convolution& shape, ConstMatrixRef<S> values, const Chosen& chosen, Index first, MatrixRef<S> u);
/// Transpose of add_chosen(): sets values to u at the chosen places and to 0 elsewhere.
template <class S>
void to_chosen(const Convolution& shape, ConstMatrixRef<S> u, const Chosen& chosen, Index first, MatrixRef<S> values);

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
