// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/convolution.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

/// Calls act with a size as a constant if it is a usual one: short loops of a known length are moves of registers.
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

/// Map in memory, whose rows are `stride` numbers apart.
template <class T>
struct Plane {
  T* data;
  Index stride;
};

/// Count of numbers computed at a time in a row, slightly beyond its end: whole vectors, no rest.
constexpr Index kGroup = 8;
constexpr Index in_groups(Index count) { return (count + kGroup - 1) / kGroup * kGroup; }

/// Computes means, to(x) = Σ_{i,j < p} from(i·step, x + j·step)/p² for x < in_groups(cols).
template <class S, class Size>
void mean_row(Size p, Index step, Plane<const S> from, Index cols, S* to) {
  const S share = S(1) / static_cast<S>(p * p);
  for (Index first = 0; first < cols; first += kGroup) {
    std::array<S, kGroup> sum{};
    for (Index i = 0; i < p; ++i) {
      for (Index j = 0; j < p; ++j) {
        const S* const at = from.data + (i * from.stride + j) * step + first;
        for (Index x = 0; x < kGroup; ++x) sum[static_cast<std::size_t>(x)] += at[x];
      }
    }
    for (Index x = 0; x < kGroup; ++x) to[first + x] = share * sum[static_cast<std::size_t>(x)];
  }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"  // of a vector type as an argument of a template

/// Computes to(c, r) = from(r, c), or adds it, by the tiles whose transposition the processor has instructions for.
template <class S, Store store>
void transposed(Plane<const S> from, Index rows, Index cols, Plane<S> to) {
  namespace tiles = Eigen::internal;
  using Packet = typename tiles::packet_traits<S>::type;
  constexpr int n = tiles::unpacket_traits<Packet>::size;
  const auto put = [&](Index r, Index c) {
    S& at = to.data[c * to.stride + r];
    const S value = from.data[r * from.stride + c];
    at = store == Store::add ? at + value : value;
  };
  const Index whole = cols - cols % n;
  Index r = 0;
  for (; r + n <= rows; r += n) {
    for (Index c = 0; c < whole; c += n) {
      tiles::PacketBlock<Packet, n> tile;
      for (int i = 0; i < n; ++i) tile.packet[i] = tiles::ploadu<Packet>(from.data + (r + i) * from.stride + c);
      tiles::ptranspose(tile);
      for (int i = 0; i < n; ++i) {
        S* const at = to.data + (c + i) * to.stride + r;
        tiles::pstoreu(at,
                       store == Store::add ? tiles::padd(tiles::ploadu<Packet>(at), tile.packet[i]) : tile.packet[i]);
      }
    }
    for (Index c = whole; c < cols; ++c) {
      for (Index i = 0; i < n; ++i) put(r + i, c);
    }
  }
  for (; r < rows; ++r) {
    for (Index c = 0; c < cols; ++c) put(r, c);
  }
}

#pragma GCC diagnostic pop

}  // namespace

template <class S>
Patches<S>::Patches(const Convolution& shape)
    : shape_(shape),
      rows_(shape.height + 2 * shape.border() - reach()),
      cols_(shape.width + 2 * shape.border() - reach()),
      padded_(Matrix<S>::Zero(shape.height + 2 * shape.border(), in_groups(cols_) + reach())),
      // give_means() reads in whole groups, from column P on.
      means_(Matrix<S>::Zero(shape.channels * (rows_ + 2 * reach()),
                             reach() + std::max(in_groups(cols_) + reach(), shape.border() + in_groups(shape.width)))),
      row_(static_cast<std::size_t>(in_groups(shape.width))) {}

template <class S>
S* Patches<S>::means(Index channel) {
  return &means_(channel * (rows_ + 2 * reach()) + reach(), reach());
}

template <class S>
void Patches<S>::take_means(const S* map, Index channel) {
  padded_.block(shape_.border(), shape_.border(), shape_.height, shape_.width) =
      Eigen::Map<const Matrix<S>>(map, shape_.height, shape_.width);
  with_constant(shape_.pool, [&](auto pool) {
    for (Index y = 0; y < rows_; ++y) {
      mean_row<S>(pool, shape_.stride, {&padded_(y, 0), padded_.cols()}, cols_, means(channel) + y * means_.cols());
    }
  });
}

/// Adds the transpose of the means to map: a pixel is in the means of the p × p places before it, s apart.
template <class S>
void Patches<S>::give_means(Index channel, S* map) {
  const S* const first = means(channel) + (shape_.border() - reach()) * (means_.cols() + 1);
  with_constant(shape_.pool, [&](auto pool) {
    for (Index y = 0; y < shape_.height; ++y) {
      mean_row<S>(pool, shape_.stride, {first + y * means_.cols(), means_.cols()}, shape_.width, row_.data());
      for (Index x = 0; x < shape_.width; ++x) map[y * shape_.width + x] += row_[static_cast<std::size_t>(x)];
    }
  });
}

/// Calls act(place in the patch, place in the means, length) for every stretch of a patch that lies in one row of the means,
/// in the order of patches.
template <class S>
template <class Kernel, class Act>
void Patches<S>::each_stretch(Kernel kernel, Act act) {
  const Index k = kernel;
  Index at = 0;
  const Index apart = shape_.stride * shape_.pool;
  for (Index down = 0; down < shape_.pooled_height(); ++down) {
    for (Index across = 0; across < shape_.pooled_width(); ++across) {
      for (Index c = 0; c < shape_.channels; ++c) {
        S* const first = means(c) + apart * (down * means_.cols() + across);
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
    transposed<S, Store::assign>({u.row(n).data(), positions}, maps, positions,
                                 {&rows(n * positions, 0), rows.outerStride()});
  }
}

template <class S>
void add_positions(Index maps, ConstMatrixRef<S> rows, MatrixRef<S> u) {
  const Index positions = u.cols() / maps;
  for (Index n = 0; n < u.rows(); ++n) {
    transposed<S, Store::add>({rows.row(n * positions).data(), rows.outerStride()}, positions, maps,
                              {&u(n, 0), positions});
  }
}

template <class S>
void choose(const Convolution& shape, ConstMatrixRef<S> values, Chosen& chosen) {
  const Index across = shape.places(shape.width), places = shape.places(shape.height) * across;
  chosen.rows = values.rows() / places;
  chosen.place.resize(static_cast<std::size_t>(chosen.rows * shape.outputs()));
  auto to = chosen.place.begin();
  for (Index n = 0; n < chosen.rows; ++n) {
    for (Index map = 0; map < shape.maps; ++map) {
      for (Index q = 0; q < shape.positions(); ++q) {
        const Index corner = (q / shape.pooled_width() * across + q % shape.pooled_width()) * shape.pool;
        Index best = corner;
        for (Index i = 0; i < shape.pool; ++i) {
          for (Index at = corner + i * across; at < corner + i * across + shape.pool; ++at) {
            if (values(n * places + at, map) > values(n * places + best, map)) best = at;
          }
        }
        *to++ = best;
      }
    }
  }
}

namespace {

/// Calls act(row of the values, map, row of u, column of u) for the chosen place of every pooled unit.
template <class Act>
void each_chosen(const Convolution& shape, const Chosen& chosen, Index first, Index rows, Act act) {
  NUDGE_EXPECT(chosen.rows > 0);
  const Index places = shape.places(shape.height) * shape.places(shape.width), units = shape.outputs();
  for (Index n = 0; n < rows; ++n) {
    const Index* const place = chosen.place.data() + (first + n) % chosen.rows * units;
    for (Index unit = 0; unit < units; ++unit) act(n * places + place[unit], unit / shape.positions(), n, unit);
  }
}

}  // namespace

template <class S>
void add_chosen(const Convolution& shape, ConstMatrixRef<S> values, const Chosen& chosen, Index first, MatrixRef<S> u) {
  each_chosen(shape, chosen, first, u.rows(),
              [&](Index at, Index map, Index n, Index unit) { u(n, unit) += values(at, map); });
}

template <class S>
void to_chosen(const Convolution& shape, ConstMatrixRef<S> u, const Chosen& chosen, Index first, MatrixRef<S> values) {
  values.setZero();
  each_chosen(shape, chosen, first, u.rows(),
              [&](Index at, Index map, Index n, Index unit) { values(at, map) = u(n, unit); });
}

#define NUDGE_CONVOLUTION(S)                                                                              \
  template class Patches<S>;                                                                              \
  template void to_positions<S>(Index, ConstMatrixRef<S>, MatrixRef<S>);                                  \
  template void add_positions<S>(Index, ConstMatrixRef<S>, MatrixRef<S>);                                 \
  template void choose<S>(const Convolution&, ConstMatrixRef<S>, Chosen&);                                \
  template void add_chosen<S>(const Convolution&, ConstMatrixRef<S>, const Chosen&, Index, MatrixRef<S>); \
  template void to_chosen<S>(const Convolution&, ConstMatrixRef<S>, const Chosen&, Index, MatrixRef<S>);
NUDGE_BOTH_PRECISIONS(NUDGE_CONVOLUTION)

}  // namespace nudge
