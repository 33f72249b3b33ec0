// SPDX-License-Identifier: Apache-2.0
// Soft bounds whose symmetry point has been moved to the reference point by subtracting a programmed reference device. A
// soft-bounds device with slopes q = s/|g_bound - g_ref| balances up and down pulses at
//     g_sym = (q_up g_upper + q_down g_lower)/(q_up + q_down)         (to first order in q);
// after subtraction both bounds are shifted by d = g_ref - g_sym + e, e = symmetry_spread (g_max - g_min) N(0, 1) being the
// error of the reference device. The slopes stay, so the steps at the reference point become q (g_bound + d - g_ref).
#include "devices/affine_step.hpp"
#include "devices/device_draws.hpp"

namespace nudge {
namespace {

// A shift must not push a bound past the reference point: what would leaves this share of the distance (chosen, as in
// DeviceArray: the device is all but dead).
constexpr double smallest_share = 0.01;

class SoftBoundsReference final : public StepModel {
 public:
  SoftBoundsReference(double spread_S) : spread_S_(spread_S) {}
  bool bounded() const override { return true; }
  void prepare(DeviceCells<float>& cells, const StaticNormals<float>& normals) const override {
    shift(cells, normals(StaticDraw::symmetry_point));
  }
  void prepare(DeviceCells<double>& cells, const StaticNormals<double>& normals) const override {
    shift(cells, normals(StaticDraw::symmetry_point));
  }
  PulseCount update(DeviceCells<float>& cells, const UpdateRequest<float>& request) const override {
    return rule_.update(cells, request);
  }
  PulseCount update(DeviceCells<double>& cells, const UpdateRequest<double>& request) const override {
    return rule_.update(cells, request);
  }

 private:
  template <class S>
  void shift(DeviceCells<S>& cells, const Matrix<S>& draw) const {
    const S ref = cells.reference;
    const auto least = static_cast<S>(smallest_share);
    for (Index i = 0; i < cells.g.size(); ++i) {
      S& upper = cells.upper.data()[i];
      S& lower = cells.lower.data()[i];
      const S above = upper - ref;
      const S below = ref - lower;
      const S q_up = cells.step_up.data()[i] / above;
      const S q_down = cells.step_down.data()[i] / below;
      const S d = -(q_up * above - q_down * below) / (q_up + q_down) + static_cast<S>(spread_S_) * draw.data()[i];
      upper = ref + std::max(above + d, least * above);
      lower = std::max(ref - std::max(below - d, least * below), S(0));
      cells.step_up.data()[i] = q_up * (upper - ref);
      cells.step_down.data()[i] = q_down * (ref - lower);
    }
  }

  double spread_S_;
  RuleModel<AffineStep> rule_{AffineStep{1.0, 1.0}};
};

}  // namespace

DeviceModel soft_bounds_reference_model() {
  DeviceModel model;
  model.name = "soft_bounds_reference";
  model.summary = "soft bounds with the symmetry point of each device moved to the reference point, up to an error";
  model.equation =
      "soft bounds with both bounds of a device shifted by g_ref - g_sym + symmetry_spread (g_max - g_min) N(0, 1)";
  model.source =
      "soft-bounds reference device of IBM aihwkit (MIT licence) with the symmetry point subtracted; Gong, Rasch et "
      "al., IEDM 2022 (IEEE 10019569)";
  model.limits = "a reference device per device, programmed once; more than two pulses across the window";
  model.not_modelled = "noise and drift of the reference device";
  model.shape = {{"symmetry_spread", "1", 0, 1, false, false, 0,
                  "standard deviation of the symmetry point after subtraction, relative to g_max - g_min",
                  "chosen: 0, no error; 0.025 in the IEDM 2022 fit (0.05 in units where the window is 2)"}};
  model.make = [](const DeviceSpec& spec) -> std::unique_ptr<StepModel> {
    return std::make_unique<SoftBoundsReference>(spec.shape_value("symmetry_spread") * spec.window_S());
  };
  return model;
}

}  // namespace nudge
