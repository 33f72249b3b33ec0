// SPDX-License-Identifier: Apache-2.0
#include "training/learning/factor_products.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/product.hpp"

namespace nudge {

template <class S>
bool worth_keeping(const std::vector<FactorPair<S>>& pairs, Index n, ParameterShape result) {
  // Kept, a row of x and y is written and read twice more; multiplied at once, n rows read and write the result, and its chunk's
  // sum is read and written again: four passes each, so that factors of a quarter of the result's size cannot lose.
  constexpr Index kShare = 4;
  const Index own = n * (result.rows + result.cols), size = result.rows * result.cols;
  if (kShare * own > size) return false;
  Index waiting = own;
  for (const FactorPair<S>& pair : pairs) waiting += pair.x.size() + pair.y.size();
  return waiting <= size;
}

bool few_rows(Index n, ParameterShape result) {
  return n * n * (result.rows + result.cols) <= 2 * result.rows * result.cols;
}

template <class S>
std::vector<FactorPair<S>> stacked(std::vector<FactorPair<S>> pairs) {
  std::vector<FactorPair<S>> all;
  std::vector<Index> rows;
  const auto block_of = [&](const Columns& columns) {
    std::size_t at = 0;
    while (at < all.size() && (all[at].columns.begin != columns.begin || all[at].columns.count != columns.count)) ++at;
    return at;
  };
  for (const FactorPair<S>& pair : pairs) {
    const std::size_t at = block_of(pair.columns);
    if (at == all.size()) {
      all.push_back({pair.columns, S(1), {}, {}});
      rows.push_back(0);
    }
    rows[at] += pair.x.rows();
  }
  for (std::size_t at = 0; at < all.size(); ++at) {
    all[at].x.resize(rows[at], pairs[0].x.cols());
    all[at].y.resize(rows[at], all[at].columns.count);
    rows[at] = 0;
  }
  for (FactorPair<S>& pair : pairs) {
    const std::size_t at = block_of(pair.columns);
    const Index n = pair.x.rows();
    if (pair.scale != S(1)) pair.y *= pair.scale;
    if (n == all[at].x.rows()) {
      all[at].x.swap(pair.x);
      all[at].y.swap(pair.y);
      continue;
    }
    all[at].x.middleRows(rows[at], n) = pair.x;
    all[at].y.middleRows(rows[at], n) = pair.y;
    rows[at] += n;
  }
  return all;
}

template <class S>
void add_products(std::vector<std::vector<FactorPair<S>>> pairs, Gradient<S>& gradient, int threads) {
  // Rows of a result whose entries stay in a second-level cache beside the factors: 256 KiB of float.
  constexpr Index kEntries = 65536;
  struct Piece {
    std::size_t parameter;
    Index begin, count;
    Store store;
  };
  std::vector<Piece> pieces;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (pairs[p].empty()) continue;
    pairs[p] = stacked(std::move(pairs[p]));
    const int parameter = static_cast<int>(p);
    const bool whole = pairs[p].size() == 1 && pairs[p][0].columns.count == gradient.matrices()[p].cols();
    if (!whole) gradient.fill(parameter);
    const auto [g, unset] = gradient.meet(parameter);
    const Index rows = std::max<Index>(1, kEntries / std::max<Index>(1, g.cols()));
    for (Index begin = 0; begin < g.rows(); begin += rows)
      pieces.push_back({p, begin, std::min(rows, g.rows() - begin), unset ? Store::assign : Store::add});
  }
  parallel_for(static_cast<Index>(pieces.size()), threads, [&](Index k, int) {
    const Piece& piece = pieces[static_cast<std::size_t>(k)];
    Matrix<S>& g = gradient.matrices()[piece.parameter];
    for (const FactorPair<S>& pair : pairs[piece.parameter]) {
      NUDGE_EXPECT(g.rows() == pair.x.cols() && pair.columns.end() <= g.cols());
      multiply_outer<S>(pair.x.middleCols(piece.begin, piece.count), pair.y, S(1),
                        g.block(piece.begin, pair.columns.begin, piece.count, pair.columns.count), piece.store);
    }
  });
}

#define NUDGE_INSTANTIATE(S)                                                                \
  template bool worth_keeping<S>(const std::vector<FactorPair<S>>&, Index, ParameterShape); \
  template std::vector<FactorPair<S>> stacked<S>(std::vector<FactorPair<S>>);               \
  template void add_products<S>(std::vector<std::vector<FactorPair<S>>>, Gradient<S>&, int);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
