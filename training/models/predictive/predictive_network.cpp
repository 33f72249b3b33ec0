// SPDX-License-Identifier: Apache-2.0
#include "training/learning/correlator.hpp"
#include "training/models/layer_rates.hpp"
#include "training/models/layered_plan.hpp"
#include "training/models/model_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

const Choices<Predictions> prediction_ways{{"free", Predictions::free}, {"fixed", Predictions::fixed}};

/// Options of the section [predictive_coding].
struct PredictiveOptions {
  std::vector<Index> hidden;
  std::string activation;
  Predictions predictions = {};
  double gain = {};
};

const Section<PredictiveOptions>& predictive_section() {
  using param::choice, param::integers, param::named, param::real;
  static const Section<PredictiveOptions> section = {
      field(integers("predictive_coding.hidden", "[128]", at_least(1),
                     "Widths of the hidden layers of a network.kind = predictive_coding. The layer below is the "
                     "sample, the layer above as wide as there are classes or values; its prediction is linear."),
            &PredictiveOptions::hidden),
      field(choice("predictive_coding.activation", "relu", node_activations(),
                   "f of the hidden layers, whose prediction is p = f(z M + b) of the layer z below."),
            &PredictiveOptions::activation),
      field(named("predictive_coding.predictions", "free",
                  "Predictions of a nudged phase. free: they follow the layers below, so that the network has an "
                  "energy. fixed: they stay as they were and only errors move. The gradient is then that of backprop, "
                  "and the estimator must be one of aep.",
                  "fixed: Millidge, Tschantz and Buckley, arXiv:2006.04182; Rosenbaum, arXiv:2106.13082"),
            prediction_ways, &PredictiveOptions::predictions),
      field(real("predictive_coding.gain", "1", at_least(0),
                 "Initial weights are normal with gain/sqrt(n) of the n units below, biases 0."),
            &PredictiveOptions::gain)};
  return section;
}

Layers predictive_layers(const PredictiveOptions& options) {
  return {.kind = "predictive_coding",
          .hidden = options.hidden,
          .coupling = "W",
          .parts = {{node_activation(options.activation), "b", 0}},
          .gain = options.gain,
          .predictions = options.predictions};
}

bool free_predictions(const Config& config) {
  return predictive_section().read(config).predictions == Predictions::free;
}

}  // namespace

NetworkKind predictive_network() {
  ParamTable keys = layer_keys(predictive_section().rows());
  add_rows(keys, correlator_keys());
  return {.name = "predictive_coding",
          .summary = "layers that predict each other above a clamped sample: errors settle, at rest a perceptron",
          .plan = [](const Config& config, const TaskSizes& task) -> std::shared_ptr<const NetworkPlan> {
            return layered_plan(predictive_layers(predictive_section().read(config)), task);
          },
          .feed_forward = [](const Config& config) { return !free_predictions(config); },
          .couples_rows = false,
          .takes = Rows::features,
          .contrastive = free_predictions,
          .keys = keys};
}

}  // namespace nudge
