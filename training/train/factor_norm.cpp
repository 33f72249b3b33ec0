// SPDX-License-Identifier: Apache-2.0
#include "training/train/factor_norm.hpp"

#include "sim/base/product.hpp"

namespace nudge {

template <class S>
double squared_norm(const std::vector<FactorPair<S>>& factors, Index rows, Index cols) {
  Matrix<S> sum = Matrix<S>::Zero(rows, cols);
  for (const FactorPair<S>& f : factors) {
    multiply_outer<S>(f.x, f.y, f.scale, sum.middleCols(f.columns.begin, f.columns.count), Store::add);
  }
  return sum.template cast<double>().squaredNorm();
}

template double squared_norm<float>(const std::vector<FactorPair<float>>&, Index, Index);
template double squared_norm<double>(const std::vector<FactorPair<double>>&, Index, Index);

}  // namespace nudge
