// SPDX-License-Identifier: Apache-2.0
#include "training/models/resistive/resistive_config.hpp"

#include <fmt/format.h>

#include "circuits/circuit_config.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

const Choices<ResistiveBias>& resistive_biases() {
  static const Choices<ResistiveBias> choices{
      {"none", ResistiveBias::none}, {"rails", ResistiveBias::rails}, {"current", ResistiveBias::current}};
  return choices;
}

void check_resistive(const Config& config) {
  const std::size_t gains = config.reals("resistive.gain").size(),
                    most = config.integers("resistive.hidden").size() + 1;
  if (gains <= most) return;
  throw UserError(
      fmt::format("resistive.gain = {} has {} entries (must have at most {}: one behind the inputs and each "
                  "hidden layer of resistive.hidden)",
                  config.as_text("resistive.gain"), gains, most));
}

std::shared_ptr<const NetworkPlan> resistive_plan(const Config& config, const TaskSizes& task) {
  check_resistive(config);
  ResistiveShape shape;
  shape.features = task.features;
  shape.doubled = config.flag("resistive.doubled_inputs");
  for (const std::int64_t width : config.integers("resistive.hidden"))
    shape.widths.push_back(static_cast<Index>(width));
  shape.widths.push_back(task.classes > 0 ? task.classes : task.values);
  shape.gains = config.reals("resistive.gain");
  shape.gains.resize(shape.widths.size(), 1.0);
  shape.bias = resistive_biases().of(config, "resistive.bias");
  shape.rail = config.real("resistive.rail_voltage");
  shape.diodes = config.text("resistive.diode") != "none";
  shape.circuit = circuit_spec(config);
  if (config.text("resistive.diode") == "shockley") {
    shape.shockley = {config.real("resistive.saturation_current"), config.real("resistive.emission"),
                      shape.circuit.temperature_K};
    shape.shockley->validate();
  }
  shape.rows = task.rows;
  return std::make_shared<ResistivePlan>(std::move(shape), config.real("resistive.initial_scale"));
}

double resistive_leak(const Config& /*config*/, double /*damping*/) { return 0; }

}  // namespace nudge
