// SPDX-License-Identifier: Apache-2.0
// The ideal element: takes every request exactly, without bounds, pulses or update noise. Programming error and read
// noise still apply. It makes a crossbar equal to a digital matrix, which is what it is for.
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

template <class S>
PulseCount update_ideal(DeviceCells<S>& cells, const UpdateRequest<S>& request) {
  NUDGE_EXPECT(request.delta.rows() == cells.g.rows() && request.delta.cols() == cells.g.cols());
  // A number of pulses is asked of it in units of the mean step.
  const S unit = request.pulse > 0 ? cells.mean_step / request.pulse : S(1);
  cells.g += (request.factor * unit) * request.delta;
  return {};
}

class Ideal final : public StepModel {
 public:
  bool bounded() const override { return false; }
  PulseCount update(DeviceCells<float>& cells, const UpdateRequest<float>& request) const override {
    return update_ideal(cells, request);
  }
  PulseCount update(DeviceCells<double>& cells, const UpdateRequest<double>& request) const override {
    return update_ideal(cells, request);
  }
};

}  // namespace

DeviceModel ideal_model() {
  DeviceModel model;
  model.name = "ideal";
  model.summary = "takes every requested change exactly; no bounds, no pulses";
  model.equation = "g <- g + dg";
  model.source = "definition";
  model.limits =
      "a mathematical reference: g_min and g_max only set the scale of weights and of noise, conductances may "
      "leave the window and become negative";
  model.not_modelled = "bounds, pulses, pulse counts, spreads, asymmetry and update noise (ignored)";
  model.make = [](const DeviceSpec&) -> std::unique_ptr<StepModel> { return std::make_unique<Ideal>(); };
  return model;
}

}  // namespace nudge
