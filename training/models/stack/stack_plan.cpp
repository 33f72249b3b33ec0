// SPDX-License-Identifier: Apache-2.0
#include "training/models/stack/stack_plan.hpp"

#include <fmt/format.h>

#include "circuits/terms/causal_attention.hpp"
#include "circuits/terms/coupling.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "circuits/terms/shared_array.hpp"

namespace nudge {
namespace {

/// Number of the input parameter of layer l; tok and pos come before the layers.
int input_of(Index l) { return 2 + 2 * static_cast<int>(l); }

/// Seed of layer l: layers draw from streams of their own.
std::uint64_t seed_of(std::uint64_t seed, Index l) { return seed ^ (static_cast<std::uint64_t>(l) << 40U); }

template <class S>
void stack_weights(const StackPlan& plan, std::uint64_t seed, std::vector<Matrix<S>>& weights) {
  using Id = BlockParameter;
  weights.clear();
  Matrix<S> readout;
  for (Index l = 0; l < plan.layers(); ++l) {
    std::vector<Matrix<S>> one = initial_weights<S>(plan.shape(), plan.scales(), seed_of(seed, l));
    if (l == 0) {
      weights.push_back(std::move(one[Id::tok]));
      weights.push_back(std::move(one[Id::pos]));
      readout = std::move(one.back());
    }
    weights.push_back(std::move(one[Id::input]));
    weights.push_back(std::move(one[Id::output]));
  }
  weights.push_back(std::move(readout));
}

template <class S>
std::vector<std::unique_ptr<Term<S>>> stack_terms(const StackPlan& plan, double gain, const Maps<S>& maps) {
  const ModelShape& s = plan.shape();
  const std::vector<Node> nodes = plan.nodes();
  std::vector<std::unique_ptr<Term<S>>> terms;
  for (Index l = 0; l < plan.layers(); ++l) {
    const auto node = static_cast<int>(l);
    const Columns at = nodes[static_cast<std::size_t>(l)].columns;
    if (l > 0) {
      const Columns below = nodes[static_cast<std::size_t>(l) - 1].columns;
      terms.push_back(std::make_unique<NodeCoupling<S>>(node - 1, below, node, at, S(1)));
    }
    const auto map = [&maps](int p) -> LinearMap<S>& { return *maps[static_cast<std::size_t>(p)]; };
    auto array = std::make_unique<SharedArray<S>>(node, at, input_of(l), map(input_of(l)));
    array->template place<CausalAttention<S>>(
        3 * s.channels, s.heads, static_cast<S>(gain), input_of(l) + 1, map(input_of(l) + 1),
        drawn_attention<S>(s.attention, s.tokens, s.heads, static_cast<std::uint32_t>(l)));
    if (s.memories > 0) array->template place<HopfieldMemory<S>>(s.memories);
    terms.push_back(std::move(array));
  }
  return terms;
}

}  // namespace

std::vector<Node> StackPlan::nodes() const {
  std::vector<Node> nodes;
  nodes.reserve(layers_);
  for (Index l = 0; l < layers_; ++l) {
    nodes.push_back({fmt::format("l{}", l), {l * shape_.channels, shape_.channels}, 1.0, l == 0, true});
  }
  return nodes;
}

std::vector<Parameter> StackPlan::parameters() const {
  const Index c = shape_.channels;
  std::vector<Parameter> all = {table_parameter("tok", {shape_.vocabulary, c}, shape_.tables_on_devices),
                                table_parameter("pos", {shape_.tokens, c}, shape_.tables_on_devices)};
  for (Index l = 0; l < layers_; ++l) {
    all.push_back({fmt::format("l{}_input", l), {c, 3 * c + shape_.memories}, true});
    all.push_back({fmt::format("l{}_o", l), {c, c}, true});
  }
  all.push_back({"Wh", {c, shape_.vocabulary}, true});
  return all;
}

std::vector<ParameterGroup> StackPlan::groups() const {
  const Index c = shape_.channels;
  std::vector<ParameterGroup> groups = {{"tok", 0, {0, c}}, {"pos", 1, {0, c}}};
  for (Index l = 0; l < layers_; ++l) {
    const auto add = [&](const char* name, int parameter, Columns columns) {
      groups.push_back({fmt::format("l{}_{}", l, name), parameter, columns});
    };
    if (shape_.memories > 0) add("Wm", input_of(l), {3 * c, shape_.memories});
    add("Wq", input_of(l), {0, c});
    add("Wk", input_of(l), {c, c});
    add("Wv", input_of(l), {2 * c, c});
    add("Wo", input_of(l) + 1, {0, c});
  }
  groups.push_back({"Wh", readout().parameter, {0, shape_.vocabulary}, true});
  return groups;
}

NodeReadout StackPlan::readout() const {
  return {input_of(layers_), static_cast<int>(layers_) - 1, Normalization::none};
}

std::vector<WeightBound> StackPlan::bounds() const {
  std::vector<WeightBound> bounds;
  for (const Gates& one : gates()) bounds.push_back({one.parameter, one.columns, -1});
  return bounds;
}

std::vector<Gates> StackPlan::gates() const {
  std::vector<Gates> all;
  for (Index l = 0; l < layers_ && shape_.memories > 0; ++l) {
    all.push_back({{l * shape_.channels, shape_.channels}, input_of(l), {3 * shape_.channels, shape_.memories}});
  }
  return all;
}

NUDGE_PLAN(StackPlan, stack_weights(*this, seed, weights), stack_terms(*this, damping_.gain, maps))

namespace {

/// Options of the section [stack].
struct StackOptions {
  Index layers = {};
};

const Section<StackOptions>& stack_section() {
  static const Section<StackOptions> section = {
      field(param::integer("stack.layers", "2", between(1, 1024),
                           "Blocks L of a network.kind = stack, each of the sizes of model.*."),
            &StackOptions::layers)};
  return section;
}

}  // namespace

ParamTable stack_keys() {
  ParamTable rows = stacked_block_keys();
  add_rows(rows, stack_section().rows());
  return rows;
}

std::shared_ptr<const NetworkPlan> stack_plan(const Config& config, const TaskSizes& task) {
  const ModelOptions model = model_options(config);
  ModelShape shape = model_shape(config, task.symbols);
  shape.mixer = {};  // its blocks have the fused attention and a memory on one array
  shape.memory_arrays = 1;
  shape.coupling = false;
  return std::make_shared<StackPlan>(shape, stack_section().read(config).layers, model.scales, model.initial_damping());
}

}  // namespace nudge
