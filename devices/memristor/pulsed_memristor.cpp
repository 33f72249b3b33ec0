// SPDX-License-Identifier: Apache-2.0
#include "devices/memristor/pulsed_memristor.hpp"

#include "devices/registry.hpp"

namespace nudge {
namespace {

/// A memristor behind a selector: driven by the voltage of the cell.
struct SelectedMemristor final : Memristor {
  std::shared_ptr<const Memristor> own;
  SelectorSpec selector;

  double across(double x, double volts) const {
    return selector.device_volts(volts, [&](double v) { return own->current(x, v); });
  }
  double rate(double x, double volts) const override { return own->rate(x, across(x, volts)); }
  double current(double x, double volts) const override { return own->current(x, across(x, volts)); }
};

std::unique_ptr<StepModel> make(const DeviceSpec& spec, bool may_rest) {
  const DeviceModel& model = device_model(spec.model);
  const std::shared_ptr<const Memristor> memristor = cell_memristor(spec);
  const double width = spec.shape_value("pulse_width");
  const auto motion = [&](const char* pulse, bool up) -> std::shared_ptr<const ConstantVoltageMotion> {
    const double volts = spec.shape_value(pulse);
    if (may_rest && !ConstantVoltageMotion::moves(*memristor, volts, up)) return nullptr;
    return std::make_shared<ConstantVoltageMotion>(*memristor, volts, up);
  };
  PulsedMemristor rule = {
      motion("pulse_up", true), motion("pulse_down", false), width, width, spec.window_S() / spec.pulses, model.scale};
  return std::make_unique<RuleModel<PulsedMemristor>>(std::move(rule));
}

}  // namespace

bool has_equation(const DeviceSpec& spec) { return device_model(spec.model).memristor != nullptr; }

std::shared_ptr<const Memristor> cell_memristor(const DeviceSpec& spec) {
  std::shared_ptr<const Memristor> own = device_model(spec.model).memristor(spec);
  if (!spec.selector.any()) return own;
  auto cell = std::make_shared<SelectedMemristor>();
  cell->own = std::move(own);
  cell->selector = spec.selector;
  return cell;
}

std::unique_ptr<StepModel> make_pulsed_memristor(const DeviceSpec& spec) { return make(spec, false); }

std::unique_ptr<StepModel> make_resting_memristor(const DeviceSpec& spec) { return make(spec, true); }

}  // namespace nudge
