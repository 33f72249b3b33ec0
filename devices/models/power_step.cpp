// SPDX-License-Identifier: Apache-2.0
// Power step: the step is a power of the distance u from the bound ahead, U that distance at the reference point,
//     du/dn = -s (u/U)^gamma.
// Many pulses are the solution of this differential equation, u_n = u_0 [1 + (gamma - 1) a]^(-1/(gamma - 1)) with
// a = n (s/u_0) (u_0/U)^gamma, and u_0 exp(-a) for gamma = 1. Against a sum of single pulses the error is of order
// gamma s/(2 u) per unit of change (one pulse over the pulses that the distance takes).
#include "devices/step_kernel.hpp"

namespace nudge {
namespace {

struct PowerStep {
  double gamma_up, gamma_down;

  template <class S>
  S change(const Element<S>& e, Direction direction, S n) const {
    const S common = static_cast<S>(direction == Direction::up ? gamma_up : gamma_down);
    const S gamma = e.gamma < S(0) ? common : e.gamma;
    const S u = e.upper - e.g;
    if (u <= 0) return 0;
    const S a = n * (e.step / u) * std::pow(u / (e.upper - e.reference), gamma);
    const S bend = gamma - S(1);
    // For |bend| a below the rounding unit, log1p(bend a)/bend is a.
    if (std::abs(bend) * a < std::numeric_limits<S>::epsilon()) return -u * std::expm1(-a);
    if (bend * a <= S(-1)) return u;  // gamma < 1 reaches the bound in finite time
    return -u * std::expm1(-std::log1p(bend * a) / bend);
  }

  template <class S>
  S noise(const Element<S>& e, Direction direction, S n, S sigma) const {
    return equal_pulse_noise(*this, e, direction, n, sigma);
  }
};

}  // namespace

DeviceModel power_step_model() {
  const std::string source = "chosen: between the constant step (0) and soft bounds (1) lies most published data";
  DeviceModel model;
  model.name = "power_step";
  model.summary = "pulse size is a power of the distance from the bound ahead";
  model.equation = "dg/dn = s ((g_bound - g)/(g_bound - g_ref))^gamma towards g_bound, clipped to [g_lower, g_upper]";
  model.source =
      "form: power step of IBM aihwkit (MIT licence), there normalised by the whole window instead of the distance at "
      "the reference point";
  model.limits =
      "many pulses across the window (mean-field curve between pulses); gamma = 0 is the constant step, 1 "
      "soft bounds with many pulses";
  model.not_modelled = "exact variance of many noisy pulses where the curve bends";
  model.shape = {{"gamma_up", "1", 0, 100, false, false, 0.5, "power of the up curve", source},
                 {"gamma_down", "1", 0, 100, false, false, 0.5, "power of the down curve", source}};
  model.make = [](const DeviceSpec& spec) -> std::unique_ptr<StepModel> {
    return std::make_unique<RuleModel<PowerStep>>(
        PowerStep{spec.shape_value("gamma_up"), spec.shape_value("gamma_down")});
  };
  return model;
}

}  // namespace nudge
