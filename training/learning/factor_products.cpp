// SPDX-License-Identifier: Apache-2.0
#include "training/learning/factor_products.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

/// All pairs of one parameter and one block of its columns, one below the other, the scale within y.
template <class S>
struct Stacked {
  Columns columns;
  Index rows = 0;
  Matrix<S> x, y;
};

template <class S>
std::vector<Stacked<S>> stack(const std::vector<FactorPair<S>>& pairs) {
  std::vector<Stacked<S>> all;
  const auto block_of = [&](const Columns& columns) -> Stacked<S>& {
    for (Stacked<S>& block : all) {
      if (block.columns.begin == columns.begin && block.columns.count == columns.count) return block;
    }
    return all.emplace_back(Stacked<S>{columns, 0, {}, {}});
  };
  for (const FactorPair<S>& pair : pairs) block_of(pair.columns).rows += pair.x.rows();
  for (Stacked<S>& block : all) {
    block.x.resize(block.rows, pairs[0].x.cols());
    block.y.resize(block.rows, block.columns.count);
    block.rows = 0;
  }
  for (const FactorPair<S>& pair : pairs) {
    Stacked<S>& block = block_of(pair.columns);
    block.x.middleRows(block.rows, pair.x.rows()) = pair.x;
    block.y.middleRows(block.rows, pair.y.rows()) = pair.scale * pair.y;
    block.rows += pair.x.rows();
  }
  return all;
}

}  // namespace

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

template <class S>
void add_products(const std::vector<std::vector<FactorPair<S>>>& pairs, Gradient<S>& gradient, int threads) {
  // Rows of a result whose entries stay in a second-level cache beside the factors: 256 KiB of float.
  constexpr Index kEntries = 65536;
  struct Piece {
    std::size_t parameter;
    Index begin, count;
  };
  std::vector<std::vector<Stacked<S>>> blocks(pairs.size());
  std::vector<Piece> pieces;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (pairs[p].empty()) continue;
    blocks[p] = stack(pairs[p]);
    const Matrix<S>& g = gradient[static_cast<int>(p)];
    const Index rows = std::max<Index>(1, kEntries / std::max<Index>(1, g.cols()));
    for (Index begin = 0; begin < g.rows(); begin += rows)
      pieces.push_back({p, begin, std::min(rows, g.rows() - begin)});
  }
  parallel_for(static_cast<Index>(pieces.size()), threads, [&](Index k, int) {
    const Piece& piece = pieces[static_cast<std::size_t>(k)];
    Matrix<S>& g = gradient.matrices()[piece.parameter];
    for (const Stacked<S>& block : blocks[piece.parameter]) {
      NUDGE_EXPECT(g.rows() == block.x.cols() && block.columns.end() <= g.cols());
      multiply_outer<S>(block.x.middleCols(piece.begin, piece.count), block.y, S(1),
                        g.block(piece.begin, block.columns.begin, piece.count, block.columns.count), Store::add);
    }
  });
}

#define NUDGE_INSTANTIATE(S)                                                                \
  template bool worth_keeping<S>(const std::vector<FactorPair<S>>&, Index, ParameterShape); \
  template void add_products<S>(const std::vector<std::vector<FactorPair<S>>>&, Gradient<S>&, int);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
