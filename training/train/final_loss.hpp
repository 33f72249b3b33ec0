// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace nudge {

/// The final training loss of a run, everywhere: the mean over the last tenth of the steps, at least one, since one batch
/// alone is noisy; of a thinned log (train_log.hpp), of those that it has. Steps whose loss is not finite (rolled back, counted elsewhere) are left out; NaN when none is left.
inline double final_training_loss(const std::vector<double>& losses) {
  const std::size_t take = std::min(losses.size(), std::max<std::size_t>(1, losses.size() / 10));
  double sum = 0;
  int finite = 0;
  for (std::size_t i = losses.size() - take; i < losses.size(); ++i) {
    if (!std::isfinite(losses[i])) continue;
    sum += losses[i];
    ++finite;
  }
  return finite > 0 ? sum / finite : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace nudge
