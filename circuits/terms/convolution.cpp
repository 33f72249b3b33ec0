// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/convolution.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// act(row of patches, its column, column of x, how many pixels in a row) for every stretch of pixels that a patch takes from a
/// line of a map: the pixel of patch column (c, ky, kx) at position (y, x) is (y + ky − r, x + kx − r), r = (k − 1)/2.
template <class Act>
void each_tap(const Convolution& s, Act act) {
  const Index radius = (s.kernel - 1) / 2;
  Index position = 0;
  for (Index top = 0; top < s.height; top += s.pool) {
    for (Index left = 0; left < s.width; left += s.pool, ++position) {
      for (Index tap = 0; tap < s.patch(); ++tap) {
        const Index c = tap / (s.kernel * s.kernel);
        const Index dy = tap / s.kernel % s.kernel - radius, dx = tap % s.kernel - radius;
        const Index from = std::max<Index>(0, left + dx), to = std::min(s.width, left + dx + s.pool);
        for (Index y = std::max<Index>(0, top + dy); y < std::min(s.height, top + dy + s.pool); ++y) {
          if (to > from) act(position, tap, (c * s.height + y) * s.width + from, to - from);
        }
      }
    }
  }
}

}  // namespace

template <class S>
void gather_patches(const Convolution& shape, ConstMatrixRef<S> x, MatrixRef<S> patches) {
  NUDGE_EXPECT(x.cols() == shape.inputs() && patches.rows() == x.rows() * shape.positions());
  patches.setZero();
  const S share = S(1) / static_cast<S>(shape.pool * shape.pool);
  for (Index n = 0; n < x.rows(); ++n) {
    const S* in = x.row(n).data();
    auto out = patches.middleRows(n * shape.positions(), shape.positions());
    each_tap(shape, [&](Index position, Index tap, Index pixel, Index count) {
      S sum = 0;
      for (Index i = 0; i < count; ++i) sum += in[pixel + i];
      out(position, tap) += share * sum;
    });
  }
}

template <class S>
void scatter_patches(const Convolution& shape, ConstMatrixRef<S> patches, MatrixRef<S> x) {
  NUDGE_EXPECT(x.cols() == shape.inputs() && patches.rows() == x.rows() * shape.positions());
  const S share = S(1) / static_cast<S>(shape.pool * shape.pool);
  for (Index n = 0; n < x.rows(); ++n) {
    S* out = &x(n, 0);
    const auto in = patches.middleRows(n * shape.positions(), shape.positions());
    each_tap(shape, [&](Index position, Index tap, Index pixel, Index count) {
      const S part = share * in(position, tap);
      for (Index i = 0; i < count; ++i) out[pixel + i] += part;
    });
  }
}

template <class S>
void to_positions(Index maps, ConstMatrixRef<S> u, MatrixRef<S> rows) {
  const Index positions = u.cols() / maps;
  for (Index n = 0; n < u.rows(); ++n) {
    const Eigen::Map<const Matrix<S>> by_map(u.row(n).data(), maps, positions);
    rows.middleRows(n * positions, positions) = by_map.transpose();
  }
}

template <class S>
void add_positions(Index maps, ConstMatrixRef<S> rows, MatrixRef<S> u) {
  const Index positions = u.cols() / maps;
  for (Index n = 0; n < u.rows(); ++n) {
    Eigen::Map<Matrix<S>>(&u(n, 0), maps, positions) += rows.middleRows(n * positions, positions).transpose();
  }
}

#define NUDGE_INSTANTIATE(S)                                                             \
  template void gather_patches<S>(const Convolution&, ConstMatrixRef<S>, MatrixRef<S>);  \
  template void scatter_patches<S>(const Convolution&, ConstMatrixRef<S>, MatrixRef<S>); \
  template void to_positions<S>(Index, ConstMatrixRef<S>, MatrixRef<S>);                 \
  template void add_positions<S>(Index, ConstMatrixRef<S>, MatrixRef<S>);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
