// SPDX-License-Identifier: Apache-2.0
// Constant step: every pulse moves the conductance by the same mean amount until a hard bound,
//     n pulses up: g <- min(g + n s_up, g_upper),   n pulses down: g <- max(g - n s_down, g_lower).
// With update noise sigma the sum of n pulses has standard deviation s sigma sqrt(n), exactly, away from the bounds.
#include "devices/affine_step.hpp"

namespace nudge {

DeviceModel constant_step_model() {
  DeviceModel model;
  model.name = "constant_step";
  model.summary = "every pulse has the same mean size, hard bounds";
  model.equation = "dg/dn = +s_up or -s_down, clipped to [g_lower, g_upper]";
  model.source = "Gokmen and Vlasov, Front. Neurosci. 10:333 (2016), doi:10.3389/fnins.2016.00333";
  model.limits =
      "devices whose response is linear up to the bounds; asymmetry only between directions, not along the "
      "window, so the pair has no symmetry point";
  model.not_modelled = "state-dependent steps, retention, write noise on top of the stored state";
  model.make = [](const DeviceSpec&) -> std::unique_ptr<StepModel> {
    return std::make_unique<RuleModel<AffineStep>>(AffineStep{0.0, 0.0});
  };
  return model;
}

}  // namespace nudge
