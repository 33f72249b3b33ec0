// SPDX-License-Identifier: Apache-2.0
#include "training/models/hopfield/hopfield_plan.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/terms/bilinear_link.hpp"
#include "circuits/terms/node_terms.hpp"
#include "circuits/terms/skip_link.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

/// Draws uniform in ±gain √(6/(fan_in + fan_out)) (Glorot & Bengio 2010, eq. 16), a pure function of seed and stream.
/// fans: fan_in + fan_out.
template <class S>
Matrix<S> glorot(const ParameterShape& shape, double fans, double gain, std::uint64_t seed, std::uint32_t stream) {
  Matrix<double> values(shape.rows, shape.cols);
  fill_uniform<double>({seed, Purpose::weight_init, stream}, 0, 0,
                       std::span<double>(values.data(), static_cast<std::size_t>(values.size())));
  const double limit = gain * std::sqrt(6.0 / fans);
  return (limit * (2.0 * values.array() - 1.0)).matrix().template cast<S>();
}

template <class S>
void initial_weights(const HopfieldPlan& plan, double gain, std::uint64_t seed, std::vector<Matrix<S>>& weights) {
  weights.clear();
  std::uint32_t stream = 0;
  for (const Parameter& parameter : plan.parameters()) {
    const bool bias = parameter.name[0] == 'b';
    // Of a kernel, fan-in and fan-out are those of a unit: its patch, and the patches that it is in.
    const bool kernel = parameter.name[0] == 'K';
    const auto in = static_cast<double>(parameter.shape.rows);
    double out = static_cast<double>(parameter.shape.cols);
    if (kernel) {
      for (const Convolution& each : plan.shape().convolutions) {
        if (each.patch() == parameter.shape.rows) out = static_cast<double>(each.maps * each.kernel * each.kernel);
      }
    }
    weights.push_back(bias ? Matrix<S>::Zero(parameter.shape.rows, parameter.shape.cols)
                           : glorot<S>(parameter.shape, in + out, gain, seed, stream));
    ++stream;
  }
}

template <class S>
std::vector<std::unique_ptr<Term<S>>> hopfield_terms(const HopfieldPlan& plan, const Maps<S>& maps) {
  const HopfieldShape& shape = plan.shape();
  const auto end = [&](int layer) -> LinkEnd {
    if (layer == 0) return {Term<S>::kInput, {0, shape.widths[0]}, NodeActivation::identity};
    const bool bends = plan.activation(layer) != NodeActivation::identity;
    return {layer - 1, plan.columns(layer), plan.activation(layer), 1, bends ? plan.units(layer) : nullptr};
  };
  const auto weights = [&](int layer, int parameter, bool convolved) {
    LinkWeights<S> w{parameter, maps[static_cast<std::size_t>(parameter)].get(), std::nullopt};
    if (convolved) w.convolution = shape.convolutions[static_cast<std::size_t>(layer - 1)];
    return w;
  };
  std::vector<std::unique_ptr<Term<S>>> terms;
  for (int l = 1; l <= shape.layers(); ++l) {
    const bool convolved = shape.convolutional(l);
    terms.push_back(std::make_unique<BilinearLink<S>>(end(l - 1), end(l), weights(l, plan.link(l), convolved),
                                                      shape.reciprocal() ? LinkWay::both : LinkWay::forward));
    if (!shape.asymmetric || l == 1) continue;
    if (convolved) {  // the transpose of a link with kernels of its own
      terms.push_back(
          std::make_unique<BilinearLink<S>>(end(l - 1), end(l), weights(l, plan.feedback(l), true), LinkWay::backward));
    } else {
      terms.push_back(
          std::make_unique<BilinearLink<S>>(end(l), end(l - 1), weights(l, plan.feedback(l), false), LinkWay::forward));
    }
  }
  for (const auto& [below, above] : shape.skips) {
    terms.push_back(std::make_unique<SkipLink<S>>(end(below), end(above), shape.feed_forward));
  }
  const Part part = shape.reciprocal() ? Part::conservative : Part::nonconservative;
  for (int l = 1; l <= shape.layers(); ++l) {
    terms.push_back(
        std::make_unique<NodeBias<S>>(end(l), plan.bias(l), *maps[static_cast<std::size_t>(plan.bias(l))], part));
  }
  return terms;
}

}  // namespace

HopfieldPlan::HopfieldPlan(HopfieldShape shape, double gain) : shape_(std::move(shape)), gain_(gain) {
  NUDGE_EXPECT(shape_.layers() >= 1 && static_cast<int>(shape_.convolutions.size()) <= shape_.layers());
  NUDGE_EXPECT(shape_.form == HopfieldForm::energy || !shape_.asymmetric);
  NUDGE_EXPECT(shape_.form == HopfieldForm::projected || !shape_.feed_forward);
}

Columns HopfieldPlan::columns(int layer) const {
  Index begin = 0;
  for (int l = 1; l < layer; ++l) begin += shape_.widths[static_cast<std::size_t>(l)];
  return {begin, shape_.widths[static_cast<std::size_t>(layer)]};
}

NodeActivation HopfieldPlan::activation(int layer) const {
  if (shape_.form == HopfieldForm::projected) return NodeActivation::identity;
  return kept(layer);
}

std::shared_ptr<const UnitSpread> HopfieldPlan::units(int layer) const {
  if (shape_.units == nullptr || kept(layer) == NodeActivation::identity) return nullptr;
  return shape_.units->of(static_cast<std::size_t>(layer - 1));
}

std::vector<Node> HopfieldPlan::nodes() const {
  std::vector<Node> all;
  for (int l = 1; l <= shape_.layers(); ++l) {
    Node node{fmt::format("layer{}", l), columns(l)};
    if (shape_.form == HopfieldForm::projected && kept(l) != NodeActivation::identity) {
      node.lower = 0;
      if (kept(l) == NodeActivation::hard_sigmoid) node.upper = 1;
      node.units = units(l);
    }
    all.push_back(std::move(node));
  }
  return all;
}

std::vector<Parameter> HopfieldPlan::parameters() const {
  std::vector<Parameter> all;
  const auto width = [this](int l) { return shape_.widths[static_cast<std::size_t>(l)]; };
  const auto positions = [this](int l) {
    return static_cast<double>(shape_.convolutions[static_cast<std::size_t>(l - 1)].positions());
  };
  const auto reads = [this](int l) {
    return static_cast<double>(shape_.convolutions[static_cast<std::size_t>(l - 1)].reads());
  };
  const auto kernels = [this](int l) -> ParameterShape {
    const Convolution& c = shape_.convolutions[static_cast<std::size_t>(l - 1)];
    return {c.patch(), c.maps};
  };
  for (int l = 1; l <= shape_.layers(); ++l) {
    const bool convolved = shape_.convolutional(l);
    all.push_back({fmt::format("{}{}", convolved ? "K" : "W", l),
                   convolved ? kernels(l) : ParameterShape{width(l - 1), width(l)}, true});
    all.back().layer = l;
    if (convolved) all.back().products = reads(l);
  }
  for (int l = 1; l <= shape_.layers(); ++l) {
    all.push_back({fmt::format("b{}", l), {1, shape_.convolutional(l) ? kernels(l).cols : width(l)}, false, false});
    all.back().layer = l;
    if (shape_.convolutional(l)) all.back().products = positions(l);
  }
  for (int l = 2; shape_.asymmetric && l <= shape_.layers(); ++l) {
    const bool convolved = shape_.convolutional(l);
    all.push_back({fmt::format("{}{}", convolved ? "Kb" : "B", l),
                   convolved ? kernels(l) : ParameterShape{width(l), width(l - 1)}, true});
    all.back().layer = l;
    if (convolved) all.back().products = reads(l);
  }
  if (shape_.classes > 0) {
    all.push_back({"Wo", {width(shape_.layers()), shape_.classes}, true});
    all.push_back({"bo", {1, shape_.classes}, false, false});
    for (Parameter* one : {&all.end()[-2], &all.back()}) one->layer = shape_.layers() + 1;
  }
  return all;
}

NodeReadout HopfieldPlan::readout() const {
  const int last = shape_.layers() - 1;
  if (shape_.classes == 0) return {-1, last, Normalization::none, -1};
  const int weights = (shape_.asymmetric ? 3 * shape_.layers() - 1 : 2 * shape_.layers());
  return {weights, last, Normalization::none, weights + 1};
}

NUDGE_PLAN(HopfieldPlan, initial_weights(*this, gain_, seed, weights), hopfield_terms(*this, maps))

}  // namespace nudge
