// SPDX-License-Identifier: Apache-2.0
// Soft bounds: the step is proportional to the distance from the bound it moves to,
//     up:   dg/dn = +s_up   (g_upper - g)/(g_upper - g_ref)      g_n = g_upper - (g_upper - g_0)(1 - q_up)^n
//     down: dg/dn = -s_down (g - g_lower)/(g_ref - g_lower)      g_n = g_lower + (g_0 - g_lower)(1 - q_down)^n
// with q = s/|g_bound - g_ref| (AffineStep with gamma = 1). Up and down pulses of equal number balance at the symmetry
// point g_sym = (q_up g_upper + q_down g_lower)/(q_up + q_down), to first order in q.
#include "devices/affine_step.hpp"

namespace nudge {

DeviceModel soft_bounds_model() {
  DeviceModel model;
  model.name = "soft_bounds";
  model.summary = "pulse size proportional to the distance from the bound ahead";
  model.equation = "dg/dn = s_up (g_upper - g)/(g_upper - g_ref) or -s_down (g - g_lower)/(g_ref - g_lower)";
  model.source =
      "soft-bounds device of IBM aihwkit (MIT licence): its linear step with gamma = 1; data of such ReRAM: "
      "Gong et al., Nat. Commun. 9:2102 (2018), doi:10.1038/s41467-018-04485-1";
  model.limits = "filamentary and interface ReRAM under identical pulses; more than two pulses across the window";
  model.not_modelled =
      "different curvature up and down (use linear_step or exponential_step), retention, write noise on "
      "top of the stored state";
  model.make = [](const DeviceSpec&) -> std::unique_ptr<StepModel> {
    return std::make_unique<RuleModel<AffineStep>>(AffineStep{1.0, 1.0});
  };
  return model;
}

}  // namespace nudge
