// SPDX-License-Identifier: Apache-2.0
#include "training/models/tapes/device_bits.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void DeviceBits<S>::draw(const Matrix<S>& logits, std::vector<std::uint8_t>& bits) {
  NUDGE_EXPECT(logits.cols() == devices_->devices());
  bits.clear();
  const std::uint64_t first = step_ * static_cast<std::uint64_t>(logits.rows());
  for (Index t = 0; t < logits.rows(); ++t) {
    for (Index h = 0; h < logits.cols(); ++h) {
      const double drive = static_cast<double>(logits(t, h)) / gain_;
      const bool one = devices_->sample(h, drive, first + static_cast<std::uint64_t>(t), sequence_);
      bits.push_back(one ? 1 : 0);
    }
  }
}

template class DeviceBits<float>;
template class DeviceBits<double>;

}  // namespace nudge
