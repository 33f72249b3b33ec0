// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/convolution.hpp"

#include <algorithm>
#include <type_traits>

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

/// Calls act with a size as a constant where it is a usual one: short loops of a known length are moves of registers.
template <class Act>
void with_constant(Index size, Act act) {
  switch (size) {
    case 1: return act(std::integral_constant<Index, 1>());
    case 2: return act(std::integral_constant<Index, 2>());
    case 3: return act(std::integral_constant<Index, 3>());
    case 5: return act(std::integral_constant<Index, 5>());
    default: return act(size);
  }
}

/// A map in memory, whose rows are `stride` numbers apart.
template <class T>
struct Plane {
  T* data;
  Index stride;
};

/// out(y, x) = Σ_{i,j < p} in(y + i, x + j)/p², or += of it.
template <class S, Store store>
void block_means(Index p, Plane<const S> in, Index rows, Index cols, Plane<S> out) {
  const S share = S(1) / static_cast<S>(p * p);
  with_constant(p, [=](auto size) {
    for (Index y = 0; y < rows; ++y) {
      const S* const from = in.data + y * in.stride;
      S* const to = out.data + y * out.stride;
      for (Index x = 0; x < cols; ++x) {
        S sum = 0;
        for (Index i = 0; i < size; ++i) {
          for (Index j = 0; j < size; ++j) sum += from[i * in.stride + x + j];
        }
        to[x] = store == Store::assign ? share * sum : to[x] + share * sum;
      }
    }
  });
}

}  // namespace

template <class S>
Patches<S>::Patches(const Convolution& shape)
    : shape_(shape),
      rows_(shape.height + shape.kernel - shape.pool),
      cols_(shape.width + shape.kernel - shape.pool),
      padded_(Matrix<S>::Zero(shape.height + shape.kernel - 1, shape.width + shape.kernel - 1)),
      means_(Matrix<S>::Zero(shape.channels * (rows_ + 2 * border()), cols_ + 2 * border())) {}

template <class S>
S* Patches<S>::means(Index channel) {
  return &means_(channel * (rows_ + 2 * border()) + border(), border());
}

template <class S>
void Patches<S>::take_means(const S* map, Index channel) {
  const Index radius = (shape_.kernel - 1) / 2;
  padded_.block(radius, radius, shape_.height, shape_.width) =
      Eigen::Map<const Matrix<S>>(map, shape_.height, shape_.width);
  block_means<S, Store::assign>(shape_.pool, {padded_.data(), padded_.cols()}, rows_, cols_,
                                {means(channel), means_.cols()});
}

/// map += the transpose of it: a pixel is in the means of the p × p places before it.
template <class S>
void Patches<S>::give_means(Index channel, S* map) {
  const Index radius = (shape_.kernel - 1) / 2;
  const S* const first = means(channel) + (radius - border()) * (means_.cols() + 1);
  block_means<S, Store::add>(shape_.pool, {first, means_.cols()}, shape_.height, shape_.width, {map, shape_.width});
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
        S* const first = means(c) + top * means_.cols() + left;
        for (Index y = 0; y < k; ++y, at += k) act(at, first + y * means_.cols(), kernel);
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
    with_constant(shape_.kernel, [&](auto kernel) {
      each_stretch(kernel, [out](Index at, const S* means, auto k) {
        for (Index i = 0; i < k; ++i) out[at + i] = means[i];
      });
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
    with_constant(shape_.kernel, [&](auto kernel) {
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
