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

std::shared_ptr<const NetworkPlan> resistive_plan(const Config& config, const TaskSizes& task) {
  const Index outputs = task.classes > 0 ? task.classes : task.values;
  if (task.features == 0 || outputs == 0 || task.symbols > 0) {
    throw UserError(
        fmt::format("network.kind = resistive needs samples with features (task.kind = classification or regression, "
                    "not {}): its inputs are voltages",
                    config.text("task.kind")));
  }
  ResistiveShape shape;
  shape.features = task.features;
  shape.doubled = config.flag("resistive.doubled_inputs");
  for (const std::int64_t width : config.integers("resistive.hidden"))
    shape.widths.push_back(static_cast<Index>(width));
  shape.widths.push_back(outputs);
  shape.gains = config.reals("resistive.gain");
  if (shape.gains.size() > shape.widths.size()) {
    throw UserError(
        fmt::format("resistive.gain = {} has {} entries (at most {}: one behind the inputs and each hidden "
                    "layer of resistive.hidden)",
                    config.as_text("resistive.gain"), shape.gains.size(), shape.widths.size()));
  }
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
