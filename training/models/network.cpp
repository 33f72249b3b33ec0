// SPDX-License-Identifier: Apache-2.0
#include "training/models/network.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "circuits/digital_matrix.hpp"
#include "sim/base/errors.hpp"
#include "training/learning/cross_entropy.hpp"
#include "training/learning/squared_error.hpp"

namespace nudge {
namespace {

/// Makes a drive (rows, width): 1 in each row at its given place, else 0.
template <class S>
void one_hot(std::span<const int> at, Index width, Matrix<S>& lines) {
  lines.setZero(static_cast<Index>(at.size()), width);
  for (std::size_t t = 0; t < at.size(); ++t) lines(static_cast<Index>(t), at[t]) = S(1);
}

/// Numbers 0, 1, ... of the rows of a table of positions.
std::vector<int> places(Index rows) {
  std::vector<int> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

ReadContext without_noise() {
  ReadContext read;
  read.policy = ReadPolicy::all_ideal();
  return read;
}

}  // namespace

template <class S>
Network<S>::Network(std::shared_ptr<const NetworkPlan> plan, Maps<S> maps, std::shared_ptr<const NodeCost> cost)
    : plan_(std::move(plan)),
      maps_(std::move(maps)),
      circuit_(plan_->nodes(), plan_->inputs(), plan_->terms(maps_), plan_->damping()),
      cost_(std::move(cost)) {
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
void Network<S>::look_up(int table, std::span<const int> rows, MatrixRef<S> x, Store store, ReadContext& read) const {
  const LinearMap<S>& map = this->map(table);
  if (!map.plain()) {
    Matrix<S> lines;
    one_hot(rows, map.inputs(), lines);
    // A line is chosen, the others rest: one is driven per read, not all of them.
    ReadMeter own, *meter = std::exchange(read.meter, &own);
    map.forward(lines, x, map.all_columns(), store, read);
    read.meter = meter;
    if (meter == nullptr) return;
    ReadTotals& all = own.at(read.kind);
    all.driven /= static_cast<std::uint64_t>(map.inputs());  // one line of each tile side by side
    all.dac_conversions.forward /= static_cast<std::uint64_t>(map.inputs());
    *meter += own;
    return;
  }
  const Matrix<S>& w = map.weights();
  for (Index t = 0; t < x.rows(); ++t) {
    if (store == Store::add) {
      x.row(t) += w.row(rows[static_cast<std::size_t>(t)]);
    } else {
      x.row(t) = w.row(rows[static_cast<std::size_t>(t)]);
    }
  }
  read.work(static_cast<double>(x.size()));
}

template <class S>
void Network<S>::embed(std::span<const int> symbols, MatrixRef<S> x, ReadContext& read) const {
  NUDGE_EXPECT(static_cast<Index>(symbols.size()) == x.rows());
  const ReadingAs stored(read, ReadClass::stored);
  const Embedding at = plan_->embedding();
  look_up(at.symbols, symbols, x, Store::assign, read);
  if (at.positions >= 0) look_up(at.positions, places(x.rows()), x, Store::add, read);
  if (!map(at.symbols).plain()) read.pass();  // both tables at the same time
}

template <class S>
void Network<S>::embed(std::span<const int> symbols, MatrixRef<S> x) const {
  ReadContext read = without_noise();
  embed(symbols, x, read);
}

template <class S>
void Network<S>::clamp(const Batch& batch, Index example, Matrix<S>& x, ReadContext& read) const {
  NUDGE_EXPECT(batch.tokens == rows());
  if (plan_->embedding().symbols >= 0) {
    x.resize(rows(), circuit_.inputs());
    return embed(batch.indices_of(example), x, read);
  }
  x = batch.features_of(example).template cast<S>();
}

template <class S>
void Network<S>::clamp(const Batch& batch, Index example, Matrix<S>& x) const {
  ReadContext read = without_noise();
  clamp(batch, example, x, read);
}

template <class S>
double Network<S>::accumulate_rows(int table, std::span<const int> rows, ConstMatrixRef<S> x_gradient,
                                   Gradient<S>& gradient, GradientSink<S>& sink, const ReadContext& read) const {
  const LinearMap<S>& map = this->map(table);
  if (!map.plain()) {
    Matrix<S> lines;
    one_hot(rows, map.inputs(), lines);
    map.correlate(ReadDirection::forward, lines, x_gradient, map.all_columns(), S(1), table, sink, read);
    return 0;
  }
  Matrix<S>& sum = gradient[table];
  for (Index t = 0; t < x_gradient.rows(); ++t) sum.row(rows[static_cast<std::size_t>(t)]) += x_gradient.row(t);
  return static_cast<double>(x_gradient.size());
}

template <class S>
double Network<S>::accumulate_clamp(const Batch& batch, Index example, ConstMatrixRef<S> x_gradient,
                                    Gradient<S>& gradient, GradientSink<S>& sink, const ReadContext& read) const {
  const Embedding at = plan_->embedding();
  if (at.symbols < 0) return 0;
  double operations = accumulate_rows(at.symbols, batch.indices_of(example), x_gradient, gradient, sink, read);
  if (at.positions < 0) return operations;
  return operations + accumulate_rows(at.positions, places(x_gradient.rows()), x_gradient, gradient, sink, read);
}

template <class S>
double Network<S>::accumulate_clamp(const Batch& batch, Index example, ConstMatrixRef<S> x_gradient,
                                    Gradient<S>& gradient) const {
  return accumulate_clamp(batch, example, x_gradient, gradient, gradient, without_noise());
}

template <class S>
std::vector<double> Network<S>::products() const {
  const NodeReadout readout = plan_->readout();
  const auto counts = [](const Parameter& p) { return p.table && !p.on_devices; };
  std::vector<double> all;
  for (const Parameter& parameter : plan_->parameters()) {
    const int p = static_cast<int>(all.size());
    all.push_back(p == readout.parameter || p == readout.bias || counts(parameter) ? 0 : parameter.products);
  }
  return all;
}

template <class S>
void Network<S>::initial_state(ConstMatrixRef<S> x, MatrixRef<S> z) const {
  const bool rests = plan_->start() == StartState::rest;
  for (const Node& node : circuit_.nodes()) {
    auto at = z.middleCols(node.columns.begin, node.columns.count);
    if (rests) {
      for (Index j = 0; j < at.cols(); ++j) {
        at.col(j).setConstant(static_cast<S>(std::clamp(0.0, node.lower_of(j), node.upper_of(j))));
      }
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
  NodeReadout at = plan_->readout();
  if (cost_ != nullptr) at.cost = cost_;
  const Columns node = circuit_.nodes()[static_cast<std::size_t>(at.node)].columns;
  if (at.parameter < 0) return std::make_unique<SquaredError<S>>(node, at.cost);
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

NUDGE_BOTH_PRECISIONS_OF(Network)
template std::unique_ptr<LinearMap<float>> number_map<float>(const Parameter&, Matrix<float>);
template std::unique_ptr<LinearMap<double>> number_map<double>(const Parameter&, Matrix<double>);

}  // namespace nudge
