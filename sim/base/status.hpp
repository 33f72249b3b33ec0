// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nudge {

/// Outcome of settling one system. r_k = ‖F(z_k)‖_F / ‖z_k‖_F is the relative force residual after k steps, tol the
/// tolerance. Every outcome leaves the last finite state in z; only `diverged` marks it unusable.
enum class Status {
  converged,    ///< r_k ≤ tol.
  max_steps,    ///< k = max_steps and r_k > tol, none of the three below.
  diverged,     ///< a non-finite number appeared, or ‖z_k‖ > divergence_ratio · max(‖z_0‖, 1): z is not an equilibrium.
  stalled,      ///< k = max_steps and r_k > tol, and over the last `window` steps the residual fell by less than 1 %
                ///< with a spread below 1 %: r_min > 0.99 r_max. A rounding floor or a slow mode.
  oscillating,  ///< k = max_steps and r_k > tol, and over the last `window` steps the residual did not decay
                ///< (mean of the second half ≥ 0.99 mean of the first half) but varied by more than 1 %: a limit cycle.
};

constexpr std::string_view to_string(Status status) {
  switch (status) {
    case Status::converged: return "converged";
    case Status::max_steps: return "max_steps";
    case Status::diverged: return "diverged";
    case Status::stalled: return "stalled";
    case Status::oscillating: return "oscillating";
  }
  return "unknown";
}

}  // namespace nudge
