// SPDX-License-Identifier: Apache-2.0
// Linear step: the pulse size falls linearly with the distance from the reference point (see AffineStep),
//     up:   dg/dn = +s_up   (1 - gamma_up   (g - g_ref)/(g_upper - g_ref))
//     down: dg/dn = -s_down (1 - gamma_down (g_ref - g)/(g_ref - g_lower))
// clipped to [g_lower, g_upper]. gamma = 0 is the constant step, gamma = 1 soft bounds.
#include "devices/affine_step.hpp"
#include "devices/device_draws.hpp"

namespace nudge {
namespace {

/// The linear step with slopes |gamma + spread N(0, 1)| of each device.
class LinearStep final : public StepModel {
 public:
  LinearStep(AffineStep mean, double spread) : mean_(mean), spread_(spread), rule_(mean) {}
  bool bounded() const override { return true; }
  void prepare(DeviceCells<float>& cells, const StaticNormals<float>& normals) const override { slope(cells, normals); }
  void prepare(DeviceCells<double>& cells, const StaticNormals<double>& normals) const override {
    slope(cells, normals);
  }
  PulseCount update(DeviceCells<float>& cells, const UpdateRequest<float>& request) const override {
    return rule_.update(cells, request);
  }
  PulseCount update(DeviceCells<double>& cells, const UpdateRequest<double>& request) const override {
    return rule_.update(cells, request);
  }

 private:
  template <class S>
  void slope(DeviceCells<S>& cells, const StaticNormals<S>& normals) const {
    if (spread_ == 0) return;
    const auto drawn = [&](double mean, StaticDraw which) -> Matrix<S> {
      return (static_cast<S>(mean) + static_cast<S>(spread_) * normals(which).array()).abs().matrix();
    };
    cells.gamma_up = drawn(mean_.gamma_up, StaticDraw::slope_up);
    cells.gamma_down = drawn(mean_.gamma_down, StaticDraw::slope_down);
  }

  AffineStep mean_;
  double spread_;
  RuleModel<AffineStep> rule_;
};

}  // namespace

DeviceModel linear_step_model() {
  const std::string source =
      "form: linear step of IBM aihwkit (MIT licence), dw (1 -/+ gamma w/w_bound); default: the "
      "trench capacitor of Li et al., VLSI 2018, as fitted there (0.05)";
  DeviceModel model;
  model.name = "linear_step";
  model.summary = "pulse size falls linearly towards the bound, hard bounds";
  model.equation = "dg/dn = s (1 - gamma (g - g_ref)/(g_bound - g_ref)) towards g_bound, clipped to [g_lower, g_upper]";
  model.source =
      "Gokmen and Vlasov (2016) doi:10.3389/fnins.2016.00333 with the slopes of Li et al., VLSI 2018 (IEEE "
      "8510648)";
  model.limits = "slopes from 0 to 1; a device still steps by 1 - gamma at its bound";
  model.not_modelled = "retention, write noise on top of the stored state";
  model.shape = {
      {"gamma_up", "1", 0, 1, false, false, 0.05, "relative loss of the up step from reference to upper bound", source},
      {"gamma_down", "1", 0, 1, false, false, 0.05, "relative loss of the down step from reference to lower bound",
       source},
      {"gamma_spread", "1", 0, std::numeric_limits<double>::infinity(), false, false, 0,
       "device-to-device standard deviation of both gammas (absolute), drawn for each; a negative one counts as its "
       "size",
       "form: linear step of IBM aihwkit (MIT licence); default chosen: 0 switches it off"}};
  model.make = [](const DeviceSpec& spec) -> std::unique_ptr<StepModel> {
    return std::make_unique<LinearStep>(AffineStep{spec.shape_value("gamma_up"), spec.shape_value("gamma_down")},
                                        spec.shape_value("gamma_spread"));
  };
  return model;
}

}  // namespace nudge
