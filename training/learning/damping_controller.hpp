// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/controller.hpp"

namespace nudge {

/// Thresholds, rates and bounds. The defaults are the recipe that our prototype trained with; much faster or stricter
/// settings end in a death spiral, because the signal falls as 1/(1 + s·c) while c rises.
struct DampingOptions {
  double initial = 1.0;       ///< c before the first step, within the bounds
  double high = 1.5e-2;       ///< raise when ρ > high
  double low = 5e-3;          ///< lower when ρ < low; 0 ≤ low < high
  double raise = 1.02;        ///< c ← raise · c, ≥ 1
  double lower = 0.995;       ///< c ← lower · c, in (0, 1]
  int patience = 1;           ///< raise only after this many steps in a row with ρ > high, ≥ 1
  bool raise_on_skip = true;  ///< a skipped step counts as ρ > high, whatever its residual
  double minimum = 0.05;      ///< bounds of c; 0 ≤ minimum ≤ maximum
  double maximum = 20.0;
};

/// Feedback-regulated damping c of the force −s·c·z. Per step, with ρ = ε‖F‖/‖z‖ of the free phase:
///   ρ > high (or not finite): one more in the row; at `patience` in a row c ← min(raise·c, maximum), the row restarts
///   ρ < low:                  c ← max(lower·c, minimum), the row ends
///   else:                     c is kept, the row ends (the hysteresis band)
/// A bound that leaves c unchanged makes no event. UserError on options that break the ranges above.
class DampingController final : public Controller {
 public:
  explicit DampingController(const DampingOptions& options);

  std::string_view quantity() const override { return "damping"; }
  double value() const override { return damping_; }
  std::optional<ControlEvent> observe(const Observation& observation) override;
  std::vector<ScalarState> state() override;

 private:
  std::optional<ControlEvent> set(double damping, const Observation& observation, std::string reason);

  DampingOptions options_;
  double damping_;
  double high_in_a_row_ = 0;
};

}  // namespace nudge
