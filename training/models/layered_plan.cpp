// SPDX-License-Identifier: Apache-2.0
#include "training/models/layered_plan.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/terms/bilinear_link.hpp"
#include "circuits/terms/node_terms.hpp"

namespace nudge {
namespace {

class LayeredPlan final : public SamplePlan {
 public:
  LayeredPlan(Layers layers, const TaskSizes& task)
      : layers_(std::move(layers)), rows_(task.rows), widths_(layer_widths(layers_.hidden, task)) {}

  std::string_view kind() const override { return layers_.kind; }
  Index rows() const override { return rows_; }
  Index inputs() const override { return widths_.front(); }
  NodeReadout readout() const override { return {-1, count() - 1, Normalization::none, -1, layers_.cost}; }

  std::vector<Node> nodes() const override {
    std::vector<Node> all;
    for (int l = 1; l <= count(); ++l) {
      all.push_back({fmt::format("layer{}", l), columns(l)});
      if (layers_.units) layers_.units(l - 1, all.back());
    }
    return all;
  }

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all;
    for (int l = 1; l <= count(); ++l) {
      all.push_back({fmt::format("{}{}", layers_.coupling, l), {width(l - 1), width(l)}, true});
      all.back().layer = l;
    }
    for (int l = 1; l <= count(); ++l) {
      for (const LayerPart& part : layers_.parts) {
        all.push_back({fmt::format("{}{}", part.field, l), {1, width(l)}, false, false});
        all.back().layer = l;
      }
    }
    return all;
  }

  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override { draw(seed, weights); }
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override { draw(seed, weights); }
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override { return made(maps); }
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override { return made(maps); }

 private:
  int count() const { return static_cast<int>(widths_.size()) - 1; }
  Index width(int layer) const { return widths_[static_cast<std::size_t>(layer)]; }
  Columns columns(int layer) const {
    Index begin = 0;
    for (int l = 1; l < layer; ++l) begin += width(l);
    return {begin, width(layer)};
  }

  template <class S>
  void draw(std::uint64_t seed, std::vector<Matrix<S>>& weights) const {
    weights.clear();
    for (int l = 1; l <= count(); ++l) {
      const double deviation = layers_.gain / std::sqrt(static_cast<double>(width(l - 1)));
      weights.push_back(normal_matrix<S>(width(l - 1), width(l), deviation, seed, static_cast<std::uint32_t>(l - 1)));
    }
    for (int l = 1; l <= count(); ++l) {
      for (const LayerPart& part : layers_.parts) {
        weights.push_back(Matrix<S>::Constant(1, width(l), static_cast<S>(part.initial)));
      }
    }
  }

  template <class S>
  std::vector<std::unique_ptr<Term<S>>> made(const Maps<S>& maps) const {
    std::vector<std::unique_ptr<Term<S>>> all;
    const auto end = [this](int l, NodeActivation of) {
      return l == 0 ? LinkEnd{Term<S>::kInput, {0, width(0)}, of, layers_.input_gain} : LinkEnd{l - 1, columns(l), of};
    };
    if (layers_.predictions) {
      for (int l = 1; l <= count(); ++l) {
        const auto weights = [&](int p) { return LinkWeights<S>{p, maps[static_cast<std::size_t>(p)].get()}; };
        const NodeActivation bend = l < count() ? layers_.parts.front().activation : NodeActivation::identity;
        all.push_back(std::make_unique<PredictionLink<S>>(end(l - 1, NodeActivation::identity), end(l, bend),
                                                          weights(l - 1), weights(count() + l - 1),
                                                          *layers_.predictions));
      }
      return all;
    }
    std::vector<int> nodes;
    int field = count();
    for (int l = 1; l <= count(); ++l) {
      const LinkWeights<S> coupling{l - 1, maps[static_cast<std::size_t>(l - 1)].get()};
      for (const LayerPart& part : layers_.parts) {
        const LinkEnd own = end(l, part.activation);
        all.push_back(std::make_unique<BilinearLink<S>>(end(l - 1, part.activation), own, coupling));
        all.push_back(std::make_unique<NodeBias<S>>(own, field, *maps[static_cast<std::size_t>(field)]));
        ++field;
      }
      nodes.push_back(l - 1);
    }
    if (layers_.quartic) all.push_back(std::make_unique<QuarticWell<S>>(*layers_.quartic, nodes));
    return all;
  }

  Layers layers_;
  Index rows_;
  std::vector<Index> widths_;  ///< widths of s_0 … s_L
};

}  // namespace

std::vector<ParameterGroup> SamplePlan::groups() const {
  const NodeReadout at = readout();
  std::vector<ParameterGroup> all;
  for (const Parameter& p : parameters()) {
    const int number = static_cast<int>(all.size());
    all.push_back({p.name, number, {0, p.shape.cols}, number == at.parameter || number == at.bias});
  }
  return all;
}

std::vector<Index> layer_widths(const std::vector<Index>& hidden, const TaskSizes& task) {
  std::vector<Index> widths = hidden;
  widths.insert(widths.begin(), task.features);
  widths.push_back(task.classes > 0 ? task.classes : task.values);
  return widths;
}

std::shared_ptr<const NetworkPlan> layered_plan(Layers layers, const TaskSizes& task) {
  return std::make_shared<LayeredPlan>(std::move(layers), task);
}

}  // namespace nudge
