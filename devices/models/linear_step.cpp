// SPDX-License-Identifier: Apache-2.0
// Linear step: the pulse size falls linearly with the distance from the reference point (see AffineStep),
//     up:   dg/dn = +s_up   (1 - gamma_up   (g - g_ref)/(g_upper - g_ref))
//     down: dg/dn = -s_down (1 - gamma_down (g_ref - g)/(g_ref - g_lower))
// clipped to [g_lower, g_upper]. gamma = 0 is the constant step, gamma = 1 soft bounds.
#include "devices/affine_step.hpp"
#include "devices/device_draws.hpp"

namespace nudge {
namespace {

/// Linear step with slopes |gamma + spread N(0, 1)| of each device, relative to its own bounds or to the mean ones.
class LinearStep final : public StepModel, public SingleSteps {
 public:
  struct MeanBounds {
    bool used;
    double above_S, below_S;  ///< g_max − g_reference, g_reference − g_min
  };
  LinearStep(AffineStep mean, double spread, MeanBounds bounds)
      : mean_(mean), spread_(spread), bounds_(bounds), rule_(mean) {}
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
  void changes(Element<double> e, Direction direction, double n, const double* g, double* change,
               int count) const override {
    rule_.changes(e, direction, n, g, change, count);
  }
  std::vector<StraightCell> straight_cells(const Element<double>& e, Direction direction) const override {
    return rule_.straight_cells(e, direction);
  }

 private:
  template <class S>
  void slope(DeviceCells<S>& cells, const StaticNormals<S>& normals) const {
    if (spread_ == 0 && !bounds_.used) return;
    const auto drawn = [&](double mean, StaticDraw which) -> Matrix<S> {
      if (spread_ == 0) return Matrix<S>::Constant(cells.g.rows(), cells.g.cols(), static_cast<S>(mean));
      return (static_cast<S>(mean) + static_cast<S>(spread_) * normals(which).array()).abs().matrix();
    };
    cells.gamma_up = drawn(mean_.gamma_up, StaticDraw::slope_up);
    cells.gamma_down = drawn(mean_.gamma_down, StaticDraw::slope_down);
    if (!bounds_.used) return;
    // The rule divides by the distance of a device's own bound.
    cells.gamma_up.array() *= (cells.upper.array() - cells.reference) / static_cast<S>(bounds_.above_S);
    cells.gamma_down.array() *= (cells.reference - cells.lower.array()) / static_cast<S>(bounds_.below_S);
  }

  AffineStep mean_;
  double spread_;
  MeanBounds bounds_;
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
      "Gokmen and Vlasov (2016) doi:10.3389/fnins.2016.00333 with the slopes of Li et al., VLSI 2018 (IEEE 8510648)";
  model.limits = "slopes from 0 to 1; a device still steps by 1 - gamma at its bound";
  model.not_modelled = "retention, write noise on top of the stored state";
  model.shape = {
      {"gamma_up", "1", 0, 1, false, false, 0.05, "relative loss of the up step from reference to upper bound", source},
      {"gamma_down", "1", 0, 1, false, false, 0.05, "relative loss of the down step from reference to lower bound",
       source},
      {"gamma_spread", "1", 0, std::numeric_limits<double>::infinity(), false, false, 0,
       "device-to-device standard deviation of both gammas (absolute), drawn for each; the absolute value is used",
       "form: linear step of IBM aihwkit (MIT licence); default chosen: 0 switches it off"},
      {"mean_bounds", "1", 0, 1, false, false, 0,
       "above 0.5: slopes are relative to the mean bounds, and the bound of a device only stops it; else relative "
       "to the bounds of each device",
       "form: linear step of IBM aihwkit (MIT licence), which has both; default chosen"}};
  model.make = [](const DeviceSpec& spec) -> std::unique_ptr<StepModel> {
    return std::make_unique<LinearStep>(
        AffineStep{spec.shape_value("gamma_up"), spec.shape_value("gamma_down")}, spec.shape_value("gamma_spread"),
        LinearStep::MeanBounds{spec.shape_value("mean_bounds") > 0.5, spec.g_max_S - spec.g_reference_S(),
                               spec.g_reference_S() - spec.g_min_S});
  };
  return model;
}

}  // namespace nudge
