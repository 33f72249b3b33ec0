// SPDX-License-Identifier: Apache-2.0
#include "training/models/layer_rates.hpp"
#include "training/models/layered_plan.hpp"
#include "training/models/model_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// Options of the section [oscillator].
struct OscillatorOptions {
  std::vector<Index> hidden;
  double input_phase = {}, field = {}, gain = {};
};

/// Cost Σ 1 − cos(φ − y).
class PhaseCost final : public NodeCost {
 public:
  double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return (1 - (y - target).array().cos()).sum();
  }
  Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return (y - target).array().sin().matrix();
  }
};

Layers oscillator_layers(const OscillatorOptions& options) {
  return {.kind = "oscillator",
          .hidden = options.hidden,
          .coupling = "K",
          .parts = {{NodeActivation::cosine, "hc", options.field}, {NodeActivation::sine, "hs", 0}},
          .gain = options.gain,
          .input_gain = options.input_phase,
          .units = [](int /*layer*/, Node& node) { node.leak = 0; },
          .quartic = std::nullopt,
          .cost = std::make_shared<const PhaseCost>()};
}

const Section<OscillatorOptions>& oscillator_section() {
  using param::integers, param::real;
  static const Section<OscillatorOptions> section = {
      field(integers("oscillator.hidden", "[64]", at_least(1),
                     "Oscillators of the hidden layers of a network.kind = oscillator. The layer below is the sample, "
                     "the layer above as wide as there are classes or values."),
            &OscillatorOptions::hidden),
      field(real("oscillator.input_phase", "1.5707963267948966", any_number(),
                 "Phase in rad at which a feature of 1 clamps its oscillator."),
            &OscillatorOptions::input_phase),
      field(real("oscillator.field", "1", at_least(0),
                 "Initial h of every oscillator, at the phase 0: it holds the phase where no coupling does."),
            &OscillatorOptions::field),
      field(real("oscillator.gain", "1", at_least(0),
                 "Initial couplings are normal with gain/sqrt(n) of the n oscillators below."),
            &OscillatorOptions::gain)};
  return section;
}

}  // namespace

NetworkKind oscillator_network() {
  return {.name = "oscillator",
          .summary = "layers of coupled phase oscillators (XY, Kuramoto) above a sample of clamped phases",
          .plan = [](const Config& config, const TaskSizes& task) -> std::shared_ptr<const NetworkPlan> {
            return layered_plan(oscillator_layers(oscillator_section().read(config)), task);
          },
          .leak = [](const Config&) { return NodeLeak{.constant = 0}; },
          .feed_forward = [](const Config&) { return false; },
          .couples_rows = false,
          .takes = Rows::features,
          .contrastive = [](const Config&) { return true; },
          .keys = layer_keys(oscillator_section().rows()),
          .not_local =
              "its phases learn by cosines of their differences, which a multiplier of two states cannot "
              "form"};
}

}  // namespace nudge
