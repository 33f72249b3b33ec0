// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Convolution with pooling, u = avgpool_p(conv(r, K)). It is the cross-correlation of C_in maps of H × W with kernels K [C_out, C_in, k,
/// k], then the mean of p × p blocks. Stride 1 and zero padding (k − 1)/2 keep height and width. Maps lie in a row as (c, y, x),
/// row-major.
///
/// Both are linear, so u is a product at every pooled position. It is the mean of the p² patches there, (C_in k k), times the matrix of
/// the kernels, (C_in k k, C_out). The matrix's row (c, y, x) of column o is K[o, c, y, x]. An array that holds this matrix is read once
/// per pooled position; its drives are averaged first.
struct Convolution {
  Index channels = 1, height = 1, width = 1;  ///< size of its input
  Index maps = 1;                             ///< C_out
  Index kernel = 1;                           ///< k, odd
  Index pool = 1;                             ///< p, divides height and width

  Index inputs() const { return channels * height * width; }
  Index outputs() const { return maps * positions(); }
  Index positions() const { return (height / pool) * (width / pool); }
  Index patch() const { return channels * kernel * kernel; }
};

/// Drives of the kernels of a convolution, and the way back. The mean of the p × p pixels from every pixel of a map on is
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

  Index border() const { return shape_.pool - 1; }
  S* means(Index channel);

  Convolution shape_;
  Index rows_, cols_;  ///< size of the means of a map
  Matrix<S> padded_;   ///< a map in its border of zeros
  Matrix<S> means_;    ///< means of all channels, below one another, each in a border of p − 1 zeros
  std::vector<S> row_;
};

/// Rearranges u (n, maps·positions), maps first, as rows by position (n·positions, maps); add_positions() adds them back to u.
template <class S>
void to_positions(Index maps, ConstMatrixRef<S> u, MatrixRef<S> rows);
template <class S>
void add_positions(Index maps, ConstMatrixRef<S> rows, MatrixRef<S> u);

}  // namespace nudge
