// SPDX-License-Identifier: Apache-2.0
#include "training/learning/factor_products.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/product.hpp"
#include "sim/base/sums.hpp"

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

#define NUDGE_FACTOR_PRODUCTS(S)                                                            \
  template bool worth_keeping<S>(const std::vector<FactorPair<S>>&, Index, ParameterShape); \
  template std::vector<FactorPair<S>> stacked<S>(std::vector<FactorPair<S>>);               \
  template void add_products<S>(std::vector<std::vector<FactorPair<S>>>, Gradient<S>&, int);
NUDGE_BOTH_PRECISIONS(NUDGE_FACTOR_PRODUCTS)

namespace {

/// Row of a pair.
template <class S>
struct FactorRow {
  const FactorPair<S>* pair;
  Index row;
  std::span<const S> x() const { return {pair->x.row(row).data(), static_cast<std::size_t>(pair->x.cols())}; }
  /// Part of the row in some columns of the gradient.
  std::span<const S> y(Index begin, Index end) const {
    return {pair->y.row(row).data() + (begin - pair->columns.begin), static_cast<std::size_t>(end - begin)};
  }
};

template <class S>
double by_inner_products(const std::vector<FactorRow<S>>& rows) {
  double sum = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      const Columns &a = rows[k].pair->columns, &b = rows[l].pair->columns;
      const Index begin = std::max(a.begin, b.begin), end = std::min(a.end(), b.end());
      if (end <= begin) continue;
      const double scale = static_cast<double>(rows[k].pair->scale) * static_cast<double>(rows[l].pair->scale);
      sum += (l < k ? 2 : 1) * scale * inner_product_of_row<S>(rows[k].x(), rows[l].x()) *
             inner_product_of_row<S>(rows[k].y(begin, end), rows[l].y(begin, end));
    }
  }
  return sum < 0 ? 0 : sum;  // by rounding, where all cancels
}

}  // namespace

template <class S>
double squared_norm(const std::vector<FactorPair<S>>& factors, Index rows, Index cols) {
  std::vector<FactorRow<S>> all;
  for (const FactorPair<S>& pair : factors) {
    for (Index row = 0; row < pair.x.rows(); ++row) all.push_back({&pair, row});
  }
  if (few_rows(static_cast<Index>(all.size()), {rows, cols})) return by_inner_products<S>(all);
  Matrix<S> sum = Matrix<S>::Zero(rows, cols);
  for (const FactorPair<S>& f : factors) {
    multiply_outer<S>(f.x, f.y, f.scale, sum.middleCols(f.columns.begin, f.columns.count), Store::add);
  }
  return sum.template cast<double>().squaredNorm();
}

template double squared_norm<float>(const std::vector<FactorPair<float>>&, Index, Index);
template double squared_norm<double>(const std::vector<FactorPair<double>>&, Index, Index);

}  // namespace nudge
