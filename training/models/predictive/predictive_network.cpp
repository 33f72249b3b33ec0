// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "circuits/terms/prediction_link.hpp"
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

/// Layers z_1 … z_L above a clamped sample z_0, E = ½ Σ |z_l − f_l(z_{l−1} M_l + b_l)|². Parameters: W<l> (n_{l−1}, n_l), then
/// b<l> (1, n_l). At rest every prediction holds: the equilibrium is the forward pass of a perceptron.
class PredictivePlan final : public SamplePlan {
 public:
  PredictivePlan(PredictiveOptions options, const TaskSizes& task)
      : options_(std::move(options)), rows_(task.rows), widths_(layer_widths(options_.hidden, task)) {}

  std::string_view kind() const override { return "predictive_coding"; }
  Index rows() const override { return rows_; }
  Index inputs() const override { return widths_.front(); }
  NodeReadout readout() const override { return {-1, layers() - 1, Normalization::none, -1}; }

  std::vector<Node> nodes() const override {
    std::vector<Node> all;
    for (int l = 1; l <= layers(); ++l) all.push_back({fmt::format("layer{}", l), columns(l)});
    return all;
  }

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all;
    for (int l = 1; l <= layers(); ++l) all.push_back({fmt::format("W{}", l), {width(l - 1), width(l)}, true});
    for (int l = 1; l <= layers(); ++l) all.push_back({fmt::format("b{}", l), {1, width(l)}, false, false});
    for (int p = 0; p < 2 * layers(); ++p) all[static_cast<std::size_t>(p)].layer = p % layers() + 1;
    return all;
  }

  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override { draw(seed, weights); }
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override { draw(seed, weights); }
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override { return made(maps); }
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override { return made(maps); }

 private:
  int layers() const { return static_cast<int>(widths_.size()) - 1; }
  Index width(int layer) const { return widths_[static_cast<std::size_t>(layer)]; }
  Columns columns(int layer) const {
    Index begin = 0;
    for (int l = 1; l < layer; ++l) begin += width(l);
    return {begin, width(layer)};
  }

  template <class S>
  void draw(std::uint64_t seed, std::vector<Matrix<S>>& weights) const {
    weights.clear();
    for (int l = 1; l <= layers(); ++l) {
      const double deviation = options_.gain / std::sqrt(static_cast<double>(width(l - 1)));
      weights.push_back(normal_matrix<S>(width(l - 1), width(l), deviation, seed, static_cast<std::uint32_t>(l - 1)));
    }
    for (int l = 1; l <= layers(); ++l) weights.push_back(Matrix<S>::Zero(1, width(l)));
  }

  template <class S>
  std::vector<std::unique_ptr<Term<S>>> made(const Maps<S>& maps) const {
    std::vector<std::unique_ptr<Term<S>>> all;
    const NodeActivation bend = node_activation(options_.activation);
    const auto weights = [&](int parameter) {
      return LinkWeights<S>{parameter, maps[static_cast<std::size_t>(parameter)].get()};
    };
    for (int l = 1; l <= layers(); ++l) {
      const LinkEnd from = l == 1 ? LinkEnd{Term<S>::kInput, {0, width(0)}} : LinkEnd{l - 2, columns(l - 1)};
      const LinkEnd to{l - 1, columns(l), l < layers() ? bend : NodeActivation::identity};
      all.push_back(std::make_unique<PredictionLink<S>>(from, to, weights(l - 1), weights(layers() + l - 1),
                                                        options_.predictions));
    }
    return all;
  }

  PredictiveOptions options_;
  Index rows_;
  std::vector<Index> widths_;  ///< widths of z_0 … z_L
};

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
            return std::make_shared<PredictivePlan>(predictive_section().read(config), task);
          },
          .feed_forward = [](const Config& config) { return !free_predictions(config); },
          .couples_rows = false,
          .takes = Rows::features,
          .contrastive = free_predictions,
          .keys = keys};
}

}  // namespace nudge
