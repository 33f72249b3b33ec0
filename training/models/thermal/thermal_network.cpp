// SPDX-License-Identifier: Apache-2.0
#include "training/models/thermal/thermal_network.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/terms/bilinear_link.hpp"
#include "circuits/terms/node_bias.hpp"
#include "circuits/terms/quartic_well.hpp"
#include "training/data/run_seed.hpp"
#include "training/models/initial.hpp"

namespace nudge {
namespace {

const Choices<ThermalUnits> unit_kinds{{"real", ThermalUnits::real}, {"binary", ThermalUnits::binary}};

/// Arrays of bits are numbered behind all arrays of weights.
constexpr std::uint32_t kFirstBits = 1U << 20U;

class ThermalPlan final : public NetworkPlan {
 public:
  ThermalPlan(ThermalOptions options, std::uint64_t seed, const TaskSizes& task)
      : options_(std::move(options)), rows_(task.rows) {
    widths_.push_back(task.features);
    widths_.insert(widths_.end(), options_.hidden.begin(), options_.hidden.end());
    widths_.push_back(task.classes > 0 ? task.classes : task.values);
    if (!binary()) return;
    const StochasticBitSpec spec{1, 0, options_.bit_gain_spread, options_.bit_offset_spread, options_.bit_correlation};
    for (int l = 1; l <= layers(); ++l) {
      const ArrayIdentity identity{seed, kFirstBits + static_cast<std::uint32_t>(l), 0};
      bits_.push_back(std::make_shared<const StochasticBits>(spec, width(l), identity));
    }
  }

  std::string_view kind() const override { return "thermal"; }
  Index rows() const override { return rows_; }
  bool couples_rows() const override { return false; }
  Index inputs() const override { return widths_.front(); }
  StartState start() const override { return StartState::rest; }
  Embedding embedding() const override { return {-1, -1}; }
  NodeReadout readout() const override { return {-1, layers() - 1, Normalization::none, -1}; }

  std::vector<Node> nodes() const override {
    std::vector<Node> all;
    for (int l = 1; l <= layers(); ++l) {
      Node node{fmt::format("layer{}", l), columns(l)};
      node.temperature = options_.temperature;
      if (binary()) {
        node.leak = 0;
        node.bits = bits_[static_cast<std::size_t>(l - 1)];
      }
      all.push_back(std::move(node));
    }
    return all;
  }

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all;
    for (int l = 1; l <= layers(); ++l) all.push_back({fmt::format("W{}", l), {width(l - 1), width(l)}, true});
    for (int l = 1; l <= layers(); ++l) all.push_back({fmt::format("b{}", l), {1, width(l)}, false, false});
    return all;
  }

  std::vector<ParameterGroup> groups() const override {
    std::vector<ParameterGroup> all;
    for (const Parameter& p : parameters()) all.push_back({p.name, static_cast<int>(all.size()), {0, p.shape.cols}});
    return all;
  }

  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override { draw(seed, weights); }
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override { draw(seed, weights); }
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override { return made(maps); }
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override { return made(maps); }

 private:
  bool binary() const { return options_.units == ThermalUnits::binary; }
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
    for (const Parameter& p : parameters()) {
      const double deviation = p.on_devices ? options_.gain / std::sqrt(static_cast<double>(p.shape.rows)) : 0;
      weights.push_back(
          normal_matrix<S>(p.shape.rows, p.shape.cols, deviation, seed, static_cast<std::uint32_t>(weights.size())));
    }
  }

  template <class S>
  std::vector<std::unique_ptr<Term<S>>> made(const Maps<S>& maps) const {
    std::vector<std::unique_ptr<Term<S>>> all;
    const auto end = [this](int l) {
      return l == 0 ? LinkEnd{Term<S>::kInput, {0, width(0)}} : LinkEnd{l - 1, columns(l)};
    };
    std::vector<int> nodes;
    for (int l = 1; l <= layers(); ++l) {
      const LinkWeights<S> weights{l - 1, maps[static_cast<std::size_t>(l - 1)].get()};
      const int bias = layers() + l - 1;
      all.push_back(std::make_unique<BilinearLink<S>>(end(l - 1), end(l), weights));
      all.push_back(std::make_unique<NodeBias<S>>(end(l), bias, *maps[static_cast<std::size_t>(bias)]));
      nodes.push_back(l - 1);
    }
    if (!binary()) all.push_back(std::make_unique<QuarticWell<S>>(options_.stiffness, nodes));
    return all;
  }

  ThermalOptions options_;
  Index rows_;
  std::vector<Index> widths_;
  std::vector<std::shared_ptr<const StochasticBits>> bits_;
};

}  // namespace

const Section<ThermalOptions>& thermal_section() {
  using param::integers;
  using param::named;
  using param::real;
  static const Section<ThermalOptions> section = {
      field(integers("thermal.hidden", "[64]", at_least(1),
                     "Units of the hidden layers of a network.kind = thermal. The layer below is the sample, the layer "
                     "above as wide as there are classes or values."),
            &ThermalOptions::hidden),
      field(
          named("thermal.units", "real",
                "real: numbers that Langevin's equation moves; binary: 0 or 1, drawn by a stochastic bit (p-bit) each, "
                "one layer after the other."),
          unit_kinds, &ThermalOptions::units),
      field(real("thermal.temperature", "0.05", above(0), "T of the bath, in units of E: states have P ~ exp(-E/T)."),
            &ThermalOptions::temperature),
      field(real("thermal.stiffness", "1", at_least(0),
                 "kappa of the wells E = s^2/2 + kappa s^4/4 of real units: what is not linear in them."),
            &ThermalOptions::stiffness),
      field(real("thermal.gain", "0.5", at_least(0),
                 "Initial weights are normal with gain/sqrt(n) of the n units below, biases 0."),
            &ThermalOptions::gain),
      field(real("thermal.bit_gain_spread", "0", at_least(0),
                 "Device to device, of the slope of a stochastic bit, relative."),
            &ThermalOptions::bit_gain_spread),
      field(real("thermal.bit_offset_spread", "0", at_least(0),
                 "Device to device, of the input at which a stochastic bit is 0 as often as 1, in units of h/T."),
            &ThermalOptions::bit_offset_spread),
      field(
          real("thermal.bit_correlation", "0", from_below(0, 1),
               "Correlation of one stochastic bit from one draw to the next: it then follows its neighbours late, and "
               "states are not quite those of the bath."),
          &ThermalOptions::bit_correlation)};
  return section;
}

NetworkKind thermal_network() {
  return {.name = "thermal",
          .summary = "layers of units in a heat bath (Langevin, or stochastic bits) above a clamped sample",
          .plan = [](const Config& config, const TaskSizes& task) -> std::shared_ptr<const NetworkPlan> {
            return std::make_shared<ThermalPlan>(thermal_section().read(config), run_seed(config), task);
          },
          .leak =
              [](const Config& config) {
                return NodeLeak{.constant = thermal_section().read(config).units == ThermalUnits::binary ? 0.0 : 1.0};
              },
          .feed_forward = [](const Config&) { return false; },
          .couples_rows = false,
          .takes = Rows::features,
          .contrastive = [](const Config&) { return true; },
          .reads = {"model.weights", "thermal."}};
}

}  // namespace nudge
