// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/convolution.hpp"

#include <algorithm>
#include <type_traits>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Calls act with the kernel's width as a constant where it is a usual one: short copies of a known length are moves of registers.
template <class Act>
void with_kernel(Index kernel, Act act) {
  switch (kernel) {
    case 1: return act(std::integral_constant<Index, 1>());
    case 3: return act(std::integral_constant<Index, 3>());
    case 5: return act(std::integral_constant<Index, 5>());
    default: return act(kernel);
  }
}

}  // namespace

template <class S>
Patches<S>::Patches(const Convolution& shape)
    : shape_(shape),
      rows_(shape.height + shape.kernel - shape.pool),
      cols_(shape.width + shape.kernel - shape.pool),
      padded_(Matrix<S>::Zero(shape.height + shape.kernel - 1, shape.width + shape.kernel - 1)),
      summed_(rows_, padded_.cols()),
      means_(shape.channels * rows_, cols_) {}

/// means(y, x) of a channel = Σ_{i,j < p} padded(y + i, x + j)/p².
template <class S>
void Patches<S>::take_means(const S* map, Index channel) {
  const Index radius = (shape_.kernel - 1) / 2, p = shape_.pool;
  auto means = means_.middleRows(channel * rows_, rows_);
  padded_.block(radius, radius, shape_.height, shape_.width) =
      Eigen::Map<const Matrix<S>>(map, shape_.height, shape_.width);
  summed_ = padded_.topRows(rows_);
  for (Index i = 1; i < p; ++i) summed_ += padded_.middleRows(i, rows_);
  means = summed_.leftCols(cols_);
  for (Index j = 1; j < p; ++j) means += summed_.middleCols(j, cols_);
  if (p > 1) means *= S(1) / static_cast<S>(p * p);
}

/// map += the transpose of it.
template <class S>
void Patches<S>::give_means(Index channel, S* map) {
  const Index radius = (shape_.kernel - 1) / 2, p = shape_.pool;
  const auto means = means_.middleRows(channel * rows_, rows_);
  summed_.setZero();
  for (Index j = 0; j < p; ++j) summed_.middleCols(j, cols_) += means;
  spread_.setZero(padded_.rows(), padded_.cols());
  for (Index i = 0; i < p; ++i) spread_.middleRows(i, rows_) += summed_;
  Eigen::Map<Matrix<S>>(map, shape_.height, shape_.width) +=
      S(1) / static_cast<S>(p * p) * spread_.block(radius, radius, shape_.height, shape_.width);
}

/// act(of a patch, of the means, how many) for every stretch of a patch that lies in one row of the means, in the order of patches.
template <class S>
template <class Kernel, class Act>
void Patches<S>::each_stretch(Kernel kernel, Act act) {
  const Index k = kernel;
  Index at = 0;
  for (Index top = 0; top < shape_.height; top += shape_.pool) {
    for (Index left = 0; left < shape_.width; left += shape_.pool) {
      for (Index c = 0; c < shape_.channels; ++c) {
        for (Index y = 0; y < k; ++y, at += k) act(at, &means_(c * rows_ + top + y, left), kernel);
      }
    }
  }
}

template <class S>
void Patches<S>::gather(ConstMatrixRef<S> x, MatrixRef<S> patches) {
  NUDGE_EXPECT(x.cols() == shape_.inputs() && patches.rows() == x.rows() * shape_.positions());
  NUDGE_EXPECT(patches.outerStride() == shape_.patch());
  const Index map = shape_.height * shape_.width;
  for (Index n = 0; n < x.rows(); ++n) {
    for (Index c = 0; c < shape_.channels; ++c) take_means(x.row(n).data() + c * map, c);
    S* out = &patches(n * shape_.positions(), 0);
    with_kernel(shape_.kernel, [&](auto kernel) {
      each_stretch(kernel, [out](Index at, const S* means, auto k) { std::copy_n(means, Index(k), out + at); });
    });
  }
}

template <class S>
void Patches<S>::scatter(ConstMatrixRef<S> patches, MatrixRef<S> x) {
  NUDGE_EXPECT(x.cols() == shape_.inputs() && patches.rows() == x.rows() * shape_.positions());
  NUDGE_EXPECT(patches.outerStride() == shape_.patch());
  const Index map = shape_.height * shape_.width;
  for (Index n = 0; n < x.rows(); ++n) {
    means_.setZero();
    const S* in = patches.row(n * shape_.positions()).data();
    with_kernel(shape_.kernel, [&](auto kernel) {
      each_stretch(kernel, [in](Index at, S* means, auto k) {
        for (Index i = 0; i < k; ++i) means[i] += in[at + i];
      });
    });
    for (Index c = 0; c < shape_.channels; ++c) give_means(c, &x(n, c * map));
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

#define NUDGE_INSTANTIATE(S)                                             \
  template class Patches<S>;                                             \
  template void to_positions<S>(Index, ConstMatrixRef<S>, MatrixRef<S>); \
  template void add_positions<S>(Index, ConstMatrixRef<S>, MatrixRef<S>);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
