// SPDX-License-Identifier: Apache-2.0
#include "circuits/rules/column_transfer.hpp"

#include <cmath>

namespace nudge {

template <class S>
bool PulseBuffer<S>::take(S pulse, Index first, Index count, Matrix<S>& counts) {
  counts.setZero(sum_.rows(), sum_.cols());
  const S least = threshold_ * pulse;
  bool any = false;
  const Index cols = sum_.cols();
  for (Index i = 0; i < sum_.rows(); ++i) {
    for (Index k = 0; k < count; ++k) {
      const Index j = first + k < cols ? first + k : first + k - cols;
      S& gathered = sum_(i, j);
      if (std::abs(gathered) < least) continue;
      // What is not finite is not kept: the devices show it as what it is.
      const S n = std::trunc(gathered / pulse);
      if (n == 0) continue;  // θ = 1 and a last bit less
      counts(i, j) = n;
      gathered = std::isfinite(n) ? gathered - (S(1) - kept_) * n * pulse : S(0);
      any = true;
    }
  }
  return any;
}

NUDGE_BOTH_PRECISIONS_OF(PulseBuffer)

}  // namespace nudge
