// SPDX-License-Identifier: Apache-2.0
#include "training/models/resistive/resistive_plan.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "training/learning/correlator.hpp"
#include "training/models/model_options.hpp"

namespace nudge {

namespace {

const Choices<ResistiveBias> biases{
    {"none", ResistiveBias::none}, {"rails", ResistiveBias::rails}, {"current", ResistiveBias::current}};
const Choices<HiddenDiode> diodes{
    {"ideal", HiddenDiode::ideal}, {"shockley", HiddenDiode::shockley}, {"none", HiddenDiode::none}};

}  // namespace

const Section<ResistiveOptions>& resistive_section() {
  using param::flag;
  using param::integers;
  using param::named;
  using param::quantity;
  using param::real;
  using param::reals;
  static const std::string published = "Scellier 2024 (arXiv 2402.11674), network of 100 hidden nodes";
  static const Section<ResistiveOptions> section = [] {
    Section<ResistiveOptions> all = {
        field(integers("resistive.hidden", "100", between(1, 1048576),
                       "Nodes of the hidden layers of a network.kind = resistive, from the inputs to the outputs; the "
                       "first half of "
                       "a layer is kept at or above 0 by diodes, the rest at or below 0.",
                       published),
              &ResistiveOptions::hidden),
        field(reals("resistive.gain", "100", above(0),
                    "A_0, A_1, ...: gain behind the inputs, then of the bidirectional amplifier behind each hidden "
                    "layer; those "
                    "left out are 1.",
                    published),
              &ResistiveOptions::gain),
        field(named("resistive.bias", "current",
                    "What holds the nodes up besides the layers: nothing, resistors to two rails, or current sources "
                    "(numbers).",
                    published),
              biases, &ResistiveOptions::bias),
        field(real("resistive.rail_voltage", "1", above(0),
                   "Voltage of the rails at plus and minus this, in circuit.read_voltage."),
              &ResistiveOptions::rail_voltage),
        field(
            named("resistive.diode", "ideal",
                  "Diodes of the hidden nodes, to ground. ideal: a node is kept on its side of 0; shockley: their "
                  "current is "
                  "I_s (exp(V/(n k T/q)) - 1), T being circuit.temperature, for relaxation.solver = coordinate alone; "
                  "none: "
                  "a linear circuit."),
            diodes, &ResistiveOptions::diode),
        field(quantity("resistive.saturation_current", "1e-14 A", Unit::ampere, above(0),
                       "I_s of resistive.diode = shockley.",
                       "default of SPICE diode models (ngspice manual, parameter IS)"),
              &ResistiveOptions::saturation_current),
        field(real("resistive.emission", "1", above(0),
                   "Emission coefficient (ideality) n of resistive.diode = shockley.",
                   "default of SPICE diode models (ngspice manual, parameter N)"),
              &ResistiveOptions::emission),
        field(
            flag("resistive.doubled_inputs", "true",
                 "Sources x and -x for every feature x, so that resistors, which are never negative, can weigh either "
                 "sign.",
                 published),
            &ResistiveOptions::doubled_inputs),
        field(
            real("resistive.initial_scale", "1", above(0),
                 "Conductances start uniform in plus and minus scale/sqrt(n) of the n nodes below, clipped at 0: half "
                 "of them "
                 "open.",
                 published),
            &ResistiveOptions::initial_scale)};
    all.where(chosen("resistive.diode", {"shockley"}),
              {&ResistiveOptions::saturation_current, &ResistiveOptions::emission});
    all.where(chosen("resistive.bias", {"rails"}), {&ResistiveOptions::rail_voltage});
    return all;
  }();
  return section;
}

ParamTable resistive_keys() {
  ParamTable rows = model_section().rows_of({&ModelOptions::weights});
  add_rows(rows, resistive_section().rows());
  add_rows(rows, correlator_keys());
  return rows;
}

StateFacts resistive_states(const Config& config) {
  StateFacts facts{.loads = true};
  const HiddenDiode diode = resistive_section().read(config).diode;
  if (diode == HiddenDiode::ideal) facts.boxed = "resistive.diode = ideal";
  if (diode == HiddenDiode::shockley) facts.stiff = "resistive.diode = shockley";
  return facts;
}

void check_resistive(const Config& config) {
  const ResistiveOptions options = resistive_section().read(config);
  if (options.diode == HiddenDiode::shockley && circuit_section().read(config).temperature_K == 0) {
    throw UserError(
        "circuit.temperature = 0 K (must be above 0 for resistive.diode = shockley, whose voltages are in units of k "
        "T/q)");
  }
  const std::size_t gains = options.gain.size(), most = options.hidden.size() + 1;
  if (gains <= most) return;
  throw UserError(
      fmt::format("resistive.gain = {} has {} entries (must have at most {}: one behind the inputs and each "
                  "hidden layer of resistive.hidden)",
                  config.as_text("resistive.gain"), gains, most));
}

std::shared_ptr<const NetworkPlan> resistive_plan(const Config& config, const TaskSizes& task) {
  check_resistive(config);
  const ResistiveOptions options = resistive_section().read(config);
  ResistiveShape shape;
  shape.features = task.features;
  shape.doubled = options.doubled_inputs;
  shape.widths = options.hidden;
  shape.widths.push_back(task.classes > 0 ? task.classes : task.values);
  shape.gains = options.gain;
  shape.gains.resize(shape.widths.size(), 1.0);
  shape.bias = options.bias;
  shape.rail = options.rail_voltage;
  shape.diodes = options.diode != HiddenDiode::none;
  shape.circuit = circuit_spec(config);
  if (options.diode == HiddenDiode::shockley) {
    shape.shockley = {options.saturation_current, options.emission, shape.circuit.temperature_K};
    shape.shockley->validate();
  }
  shape.rows = task.rows;
  return std::make_shared<ResistivePlan>(std::move(shape), options.initial_scale);
}

}  // namespace nudge
