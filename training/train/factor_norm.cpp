// SPDX-License-Identifier: Apache-2.0
#include "training/train/factor_norm.hpp"

#include <algorithm>
#include <span>

#include "sim/base/product.hpp"
#include "sim/base/sums.hpp"
#include "training/learning/factor_products.hpp"

namespace nudge {
namespace {

/// One row of a pair.
template <class S>
struct FactorRow {
  const FactorPair<S>* pair;
  Index row;
  std::span<const S> x() const { return {pair->x.row(row).data(), static_cast<std::size_t>(pair->x.cols())}; }
  /// What it has of some columns of the gradient.
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
