// SPDX-License-Identifier: Apache-2.0
#include "pendulum_network.hpp"

#include <cmath>
#include <span>

#include "circuits/terms/bilinear_link.hpp"
#include "pendulum.hpp"
#include "sim/base/rng.hpp"
#include "sim/config/section.hpp"

namespace mine {
namespace {

using namespace nudge;

struct PendulumOptions {
  std::int64_t hidden = {};
  double weight = {}, gain = {};
};

/// One line names key, default, range, help and field.
const Section<PendulumOptions>& pendulum_section() {
  static const Section<PendulumOptions> section = {
      field(param::integer("pendulum.hidden", "32", between(1, 65536), "Units of the hidden layer."),
            &PendulumOptions::hidden),
      field(param::real("pendulum.weight", "1", at_least(0), "kappa of the pendulums, F = -z - kappa sin z."),
            &PendulumOptions::weight),
      field(param::real("pendulum.gain", "0.5", above(0), "Initial weights are normal with gain/sqrt(inputs)."),
            &PendulumOptions::gain)};
  return section;
}

class PendulumPlan final : public NetworkPlan {
 public:
  PendulumPlan(const PendulumOptions& options, const TaskSizes& sizes)
      : options_(options), rows_(sizes.rows), inputs_(sizes.features), outputs_(sizes.classes + sizes.values) {}

  std::string_view kind() const override { return "pendulum"; }
  Index rows() const override { return rows_; }
  bool couples_rows() const override { return false; }
  Index inputs() const override { return inputs_; }
  std::vector<Node> nodes() const override { return {{"hidden", hidden()}, {"output", output()}}; }
  std::vector<Parameter> parameters() const override {
    return {{"W1", {inputs_, options_.hidden}, true}, {"W2", {options_.hidden, outputs_}, true}};
  }
  std::vector<ParameterGroup> groups() const override {
    return {{"W1", 0, {0, options_.hidden}}, {"W2", 1, {0, outputs_}}};
  }
  Embedding embedding() const override { return {-1, -1}; }
  StartState start() const override { return StartState::rest; }
  NodeReadout readout() const override { return {-1, 1, Normalization::none, -1}; }
  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override { draw(seed, weights); }
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override { draw(seed, weights); }
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override { return made(maps); }
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override { return made(maps); }

 private:
  Columns hidden() const { return {0, options_.hidden}; }
  Columns output() const { return {options_.hidden, outputs_}; }

  template <class S>
  void draw(std::uint64_t seed, std::vector<Matrix<S>>& weights) const {
    weights.clear();
    for (const Parameter& one : parameters()) {
      Matrix<double> w(one.shape.rows, one.shape.cols);
      fill_normal<double>({seed, Purpose::weight_init, static_cast<std::uint32_t>(weights.size())}, 0, 0,
                          std::span<double>(w.data(), static_cast<std::size_t>(w.size())));
      weights.push_back((options_.gain / std::sqrt(static_cast<double>(one.shape.rows)) * w).template cast<S>());
    }
  }

  template <class S>
  std::vector<std::unique_ptr<Term<S>>> made(const Maps<S>& maps) const {
    std::vector<std::unique_ptr<Term<S>>> all;
    all.push_back(std::make_unique<BilinearLink<S>>(LinkEnd{Term<S>::kInput, {0, inputs_}}, LinkEnd{0, hidden()},
                                                    LinkWeights<S>{0, maps[0].get()}));
    all.push_back(std::make_unique<BilinearLink<S>>(LinkEnd{0, hidden()}, LinkEnd{1, output()},
                                                    LinkWeights<S>{1, maps[1].get()}));
    all.push_back(std::make_unique<PendulumForce<S>>(options_.weight, std::vector<int>{0, 1}));
    return all;
  }

  PendulumOptions options_;
  Index rows_, inputs_, outputs_;
};

}  // namespace

NetworkKind pendulum_kind() {
  return {.name = "pendulum",
          .summary = "two layers of units that hang as pendulums",
          .plan = [](const Config& config, const TaskSizes& sizes) -> std::shared_ptr<const NetworkPlan> {
            return std::make_shared<PendulumPlan>(pendulum_section().read(config), sizes);
          },
          .feed_forward = [](const Config&) { return false; },
          .couples_rows = false,
          .takes = Rows::features,
          .contrastive = [](const Config&) { return true; },
          .keys = pendulum_section().rows()};
}

double pendulum_weight(const Config& config) { return pendulum_section().read(config).weight; }

}  // namespace mine
