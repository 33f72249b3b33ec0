// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace nudge {

/// Exit codes of the program: 0 ok, 1 our bug, 2 the user's input, 3 numerical failure.
enum class ExitCode : int { ok = 0, bug = 1, user_input = 2, numerical_failure = 3 };

/// Error of the user's input: config, file, option. The message names where, what, the rule broken, and what to do.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Error of a computation that failed for a numerical reason on which the caller cannot act (every run diverged, a reference
/// did not converge). Outcomes on which a caller can act are Status values instead.
class NumericalFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Error of a broken contract: a bug of ours, never the user's input.
class ContractViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void contract_violated(const char* condition, const char* file, int line) {
  throw ContractViolation(std::string(file) + ":" + std::to_string(line) + ": contract violated: " + condition);
}

}  // namespace nudge

/// Contract on a caller of ours, checked in the dev, asan and tsan presets.
#ifdef NUDGE_CONTRACTS
#define NUDGE_EXPECT(condition) \
  ((condition) ? static_cast<void>(0) : ::nudge::contract_violated(#condition, __FILE__, __LINE__))
#else
#define NUDGE_EXPECT(condition) static_cast<void>(0)
#endif
namespace nudge {

/// Outcome of settling one system. r_k = ‖F(z_k)‖_F / ‖z_k‖_F is the relative force residual after k steps (0/0 is 0,
/// x/0 is ∞). tol is the tolerance, k the last step taken, "the window" the last `window` residuals r_k that were
/// recorded. Tested in the order diverged, converged, stalled, oscillating, max_steps. Every outcome leaves the last
/// finite state in z; only `diverged` marks it unusable. A z_0 that is not finite stays as it is and is `diverged`.
enum class Status {
  converged,    ///< r ≤ tol at the returned state (where it was not evaluated: at the last state that was).
  max_steps,    ///< k = max_steps and r > tol, none of the three below.
  diverged,     ///< a non-finite number appeared in z or F, or one whose square overflows the scalar type, or
                ///< ‖z_k‖ > divergence_ratio · max(‖z_0‖, 1): z is not an equilibrium.
  stalled,      ///< k = max_steps, r > tol, the window is full and flat, r_min > 0.99 r_max: a rounding floor,
                ///< or a slow mode. At any k also: no step of newton_gmres lowers ‖F‖, or the step of dopri5 fell
                ///< below its rounding unit. Or a cycle of gmres() lowered its residual by less than 1 %.
  oscillating,  ///< k = max_steps, r > tol, the window is full, not flat, and does not decay (mean of its second half ≥
                ///< 0.99 mean of its first half). Causes: a limit cycle, or fresh noise that keeps the state moving.
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
