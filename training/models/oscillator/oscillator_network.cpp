// SPDX-License-Identifier: Apache-2.0
#include "training/models/oscillator/oscillator_network.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/terms/bilinear_link.hpp"
#include "circuits/terms/node_bias.hpp"
#include "training/models/initial.hpp"

namespace nudge {
namespace {

/// Σ 1 − cos(φ − y).
class PhaseCost final : public NodeCost {
 public:
  double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return (1 - (y - target).array().cos()).sum();
  }
  Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return (y - target).array().sin().matrix();
  }
};

class OscillatorPlan final : public NetworkPlan {
 public:
  OscillatorPlan(OscillatorOptions options, const TaskSizes& task) : options_(std::move(options)), rows_(task.rows) {
    widths_.push_back(task.features);
    widths_.insert(widths_.end(), options_.hidden.begin(), options_.hidden.end());
    widths_.push_back(task.classes > 0 ? task.classes : task.values);
  }

  std::string_view kind() const override { return "oscillator"; }
  Index rows() const override { return rows_; }
  bool couples_rows() const override { return false; }
  Index inputs() const override { return widths_.front(); }
  StartState start() const override { return StartState::rest; }
  Embedding embedding() const override { return {-1, -1}; }
  NodeReadout readout() const override {
    return {-1, layers() - 1, Normalization::none, -1, std::make_shared<const PhaseCost>()};
  }

  std::vector<Node> nodes() const override {
    std::vector<Node> all;
    for (int l = 1; l <= layers(); ++l) {
      all.push_back({fmt::format("layer{}", l), columns(l)});
      all.back().leak = 0;
    }
    return all;
  }

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all;
    for (int l = 1; l <= layers(); ++l) all.push_back({fmt::format("K{}", l), {width(l - 1), width(l)}, true});
    for (int l = 1; l <= layers(); ++l) {
      for (const char* part : {"hc", "hs"}) all.push_back({fmt::format("{}{}", part, l), {1, width(l)}, false, false});
    }
    return all;
  }

  std::vector<ParameterGroup> groups() const override {
    std::vector<ParameterGroup> all;
    for (const Parameter& p : parameters()) {
      all.push_back({p.name, static_cast<int>(all.size()), {0, p.shape.cols}});
    }
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
  LinkEnd end(int layer, NodeActivation of, int clamped) const {
    if (layer == 0) return {clamped, {0, width(0)}, of, options_.input_phase};
    return {layer - 1, columns(layer), of};
  }

  template <class S>
  void draw(std::uint64_t seed, std::vector<Matrix<S>>& weights) const {
    weights.clear();
    for (const Parameter& p : parameters()) {
      const auto stream = static_cast<std::uint32_t>(weights.size());
      if (p.on_devices) {
        const double deviation = options_.gain / std::sqrt(static_cast<double>(p.shape.rows));
        weights.push_back(normal_matrix<S>(p.shape.rows, p.shape.cols, deviation, seed, stream));
      } else {
        const double h = p.name.starts_with("hc") ? options_.field : 0;
        weights.push_back(Matrix<S>::Constant(1, p.shape.cols, static_cast<S>(h)));
      }
    }
  }

  template <class S>
  std::vector<std::unique_ptr<Term<S>>> made(const Maps<S>& maps) const {
    std::vector<std::unique_ptr<Term<S>>> all;
    for (int l = 1; l <= layers(); ++l) {
      int field = layers() + 2 * (l - 1);
      for (const NodeActivation part : {NodeActivation::cosine, NodeActivation::sine}) {
        const LinkWeights<S> coupling{l - 1, maps[static_cast<std::size_t>(l - 1)].get()};
        all.push_back(std::make_unique<BilinearLink<S>>(end(l - 1, part, Term<S>::kInput), end(l, part, 0), coupling));
        all.push_back(std::make_unique<NodeBias<S>>(end(l, part, 0), field, *maps[static_cast<std::size_t>(field)]));
        ++field;
      }
    }
    return all;
  }

  OscillatorOptions options_;
  Index rows_;
  std::vector<Index> widths_;
};

}  // namespace

const Section<OscillatorOptions>& oscillator_section() {
  using param::integers;
  using param::real;
  static const Section<OscillatorOptions> section = {
      field(integers("oscillator.hidden", "[64]", at_least(1),
                     "Oscillators of the hidden layers of a network.kind = oscillator. The layer below is the sample, "
                     "the layer above as wide as there are classes or values."),
            &OscillatorOptions::hidden),
      field(real("oscillator.input_phase", "1.5707963267948966", any_number(),
                 "Phase in rad at which a feature of 1 clamps its oscillator."),
            &OscillatorOptions::input_phase),
      field(real("oscillator.field", "1", at_least(0),
                 "h of every oscillator at first, at the phase 0: what holds it where nothing couples it."),
            &OscillatorOptions::field),
      field(real("oscillator.gain", "1", at_least(0),
                 "Initial couplings are normal with gain/sqrt(n) of the n oscillators below."),
            &OscillatorOptions::gain)};
  return section;
}

NetworkKind oscillator_network() {
  return {.name = "oscillator",
          .summary = "layers of coupled phase oscillators (XY, Kuramoto) above a sample of clamped phases",
          .plan = [](const Config& config, const TaskSizes& task) -> std::shared_ptr<const NetworkPlan> {
            return std::make_shared<OscillatorPlan>(oscillator_section().read(config), task);
          },
          .leak = [](const Config&) { return NodeLeak{.constant = 0}; },
          .feed_forward = [](const Config&) { return false; },
          .couples_rows = false,
          .takes = Rows::features,
          .contrastive = [](const Config&) { return true; },
          .reads = {"model.weights", "oscillator."}};
}

}  // namespace nudge
