// SPDX-License-Identifier: Apache-2.0
#include "circuits/programming/write_devices.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void ShadowWeights<S>::reset(const Matrix<S>& weights) {
  weights_ = weights;
  written_ = weights;
}

template <class S>
std::vector<Index> ShadowWeights<S>::move(const Matrix<S>& delta, S threshold, S least, S most) {
  NUDGE_EXPECT(delta.rows() == weights_.rows() && delta.cols() == weights_.cols());
  std::vector<Index> moved;
  for (Index i = 0; i < delta.size(); ++i) {
    S& weight = weights_.data()[i];
    weight = std::clamp(weight + delta.data()[i], least, most);
    S& last = written_.data()[i];
    if (std::abs(weight - last) < threshold) continue;
    last = weight;
    moved.push_back(i);
  }
  return moved;
}

NUDGE_BOTH_PRECISIONS_OF(ShadowWeights)

}  // namespace nudge
