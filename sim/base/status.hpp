// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nudge {

/// Outcome of settling one system. r_k = ‖F(z_k)‖_F / ‖z_k‖_F is the relative force residual after k steps (0/0 is 0,
/// x/0 is ∞), tol the tolerance, "the window" the last `window` residuals r_k that were recorded, k the last step taken.
/// Tested in the order diverged, converged, stalled, oscillating, max_steps. Every outcome leaves the last finite state
/// in z; only `diverged` marks it unusable (a z_0 that is not finite is left as it is and is `diverged`).
enum class Status {
  converged,  ///< r ≤ tol at the returned state (where it was not evaluated: at the last state that was).
  max_steps,  ///< k = max_steps and r > tol, none of the three below.
  diverged,   ///< a non-finite number appeared in z or F, or one whose square overflows the scalar type, or
              ///< ‖z_k‖ > divergence_ratio · max(‖z_0‖, 1): z is not an equilibrium.
  stalled,    ///< k = max_steps, r > tol, the window is full and flat, r_min > 0.99 r_max: a rounding floor or a slow
              ///< mode. Also, at any k: the line search of newton_gmres found no step that lowers ‖F‖, the step of
              ///< dopri5 fell below its rounding unit, or a cycle of gmres() lowered its residual by less than 1 %.
  oscillating,  ///< k = max_steps, r > tol, the window is full, not flat, and does not decay (mean of its second half
                ///< ≥ 0.99 mean of its first half): a limit cycle, or fresh noise that keeps the state moving.
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
