// SPDX-License-Identifier: Apache-2.0
#include "training/models/network.hpp"

#include <algorithm>

#include "circuits/digital_conductances.hpp"
#include "sim/base/errors.hpp"
#include "training/learning/cross_entropy.hpp"
#include "training/learning/squared_error.hpp"

namespace nudge {

template <class S>
Network<S>::Network(std::shared_ptr<const NetworkPlan> plan, Maps<S> maps)
    : plan_(std::move(plan)),
      maps_(std::move(maps)),
      circuit_(plan_->nodes(), plan_->inputs(), plan_->terms(maps_), plan_->damping()) {
  NUDGE_EXPECT(maps_.size() == plan_->parameters().size());
}

template <class S>
std::vector<ParameterShape> Network<S>::parameter_shapes() const {
  std::vector<ParameterShape> shapes;
  for (const auto& map : maps_) shapes.push_back({map->inputs(), map->outputs()});
  return shapes;
}

template <class S>
std::vector<std::string> Network<S>::parameter_names() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : plan_->parameters()) names.push_back(parameter.name);
  return names;
}

template <class S>
void Network<S>::embed(std::span<const int> symbols, MatrixRef<S> x) const {
  NUDGE_EXPECT(static_cast<Index>(symbols.size()) == x.rows());
  const Embedding at = plan_->embedding();
  const Matrix<S>& table = map(at.symbols).weights();
  for (Index t = 0; t < x.rows(); ++t) {
    x.row(t) = table.row(symbols[static_cast<std::size_t>(t)]);
    if (at.positions >= 0) x.row(t) += map(at.positions).weights().row(t);
  }
}

template <class S>
void Network<S>::accumulate_embedding(std::span<const int> symbols, ConstMatrixRef<S> x_gradient,
                                      Gradient<S>& gradient) const {
  const Embedding at = plan_->embedding();
  for (Index t = 0; t < x_gradient.rows(); ++t) {
    gradient[at.symbols].row(symbols[static_cast<std::size_t>(t)]) += x_gradient.row(t);
    if (at.positions >= 0) gradient[at.positions].row(t) += x_gradient.row(t);
  }
}

template <class S>
void Network<S>::clamp(const Batch& batch, Index example, MatrixRef<S> x) const {
  if (plan_->embedding().symbols >= 0) return embed(batch.indices_of(example), x);
  NUDGE_EXPECT(batch.tokens == x.rows() && batch.features.cols() == x.cols());
  x = batch.features_of(example).template cast<S>();
}

template <class S>
void Network<S>::accumulate_clamp(const Batch& batch, Index example, ConstMatrixRef<S> x_gradient,
                                  Gradient<S>& gradient) const {
  if (plan_->embedding().symbols >= 0) accumulate_embedding(batch.indices_of(example), x_gradient, gradient);
}

template <class S>
void Network<S>::start(ConstMatrixRef<S> x, MatrixRef<S> z) const {
  const bool rests = plan_->start() == StartState::rest;
  for (const Node& node : circuit_.nodes()) {
    auto at = z.middleCols(node.columns.begin, node.columns.count);
    if (rests) {
      at.setConstant(static_cast<S>(std::clamp(0.0, node.lower, node.upper)));
    } else if (node.columns.count == x.cols()) {
      at = x;
    } else {
      at.setZero();
    }
  }
}

template <class S>
void Network<S>::accumulate_start(ConstMatrixRef<S> z_gradient, MatrixRef<S> x_gradient) const {
  if (plan_->start() == StartState::rest) return;
  for (const Node& node : circuit_.nodes()) {
    if (node.columns.count != x_gradient.cols()) continue;
    x_gradient += z_gradient.middleCols(node.columns.begin, node.columns.count);
  }
}

template <class S>
std::unique_ptr<ExampleCost<S>> Network<S>::make_cost(Index max_copies) const {
  const NodeReadout at = plan_->readout();
  const Columns node = circuit_.nodes()[static_cast<std::size_t>(at.node)].columns;
  if (at.parameter < 0) return std::make_unique<SquaredError<S>>(node);
  return std::make_unique<CrossEntropyReadout<S>>(map(at.parameter), at, node, rows(), max_copies,
                                                  at.bias >= 0 ? &map(at.bias) : nullptr);
}

template <class S>
std::unique_ptr<LinearMap<S>> number_map(const Parameter& parameter, Matrix<S> weights) {
  if (parameter.conductance) return std::make_unique<DigitalConductances<S>>(std::move(weights));
  return std::make_unique<DigitalMatrix<S>>(std::move(weights));
}

std::vector<ParameterGroup> equilibrium_groups(const NetworkPlan& plan) {
  std::vector<ParameterGroup> inside;
  for (const ParameterGroup& group : plan.groups()) {
    if (!group.readout) inside.push_back(group);
  }
  return inside;
}

template class Network<float>;
template class Network<double>;
template std::unique_ptr<LinearMap<float>> number_map<float>(const Parameter&, Matrix<float>);
template std::unique_ptr<LinearMap<double>> number_map<double>(const Parameter&, Matrix<double>);

}  // namespace nudge
