// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/circuit_spec.hpp"
#include "devices/current_curve.hpp"
#include "training/data/batches.hpp"
#include "training/learning/cost.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// An equilibrium network: a circuit of named nodes and the terms between them, the linear maps that hold its parameters
/// (numbers or devices), how an example clamps its input, and the read-out that its cost acts through. What one thread needs to
/// settle one example is a CircuitDynamics and a Cost.
template <class S>
class Network {
 public:
  using Map = std::unique_ptr<LinearMap<S>>;

  /// maps as plan->parameters() lists them. cost: in place of the one that the plan's read-out has; null: that.
  Network(std::shared_ptr<const NetworkPlan> plan, Maps<S> maps, std::shared_ptr<const NodeCost> cost = nullptr);

  const NetworkPlan& plan() const { return *plan_; }
  const std::shared_ptr<const NetworkPlan>& shared_plan() const { return plan_; }
  Circuit<S>& circuit() { return circuit_; }
  const Circuit<S>& circuit() const { return circuit_; }
  LinearMap<S>& map(int parameter) { return *maps_[static_cast<std::size_t>(parameter)]; }
  const LinearMap<S>& map(int parameter) const { return *maps_[static_cast<std::size_t>(parameter)]; }

  /// How many parameters there are, and which of them the read-out is (-1: none).
  int parameters() const { return static_cast<int>(maps_.size()); }
  int readout() const { return plan_->readout().parameter; }
  std::vector<ParameterGroup> groups() const { return plan_->groups(); }
  std::vector<ParameterShape> parameter_shapes() const;
  /// Parameter::products; 0 of the read-out, which learns outside the equilibrium, and of tables of numbers, which add up adjoints.
  std::vector<double> products() const;
  std::vector<std::string> parameter_names() const;

  /// Shape of a state.
  Index rows() const { return plan_->rows(); }
  Index cols() const { return circuit_.cols(); }

  /// x_in (rows, inputs) of an example's symbols, one per row, each below the size of the table: row i of a table of numbers, or
  /// of one on devices its read with 1 on line i and 0 on all others. A read of class `stored`: made once, and held for
  /// all phases of the example.
  void embed(std::span<const int> symbols, MatrixRef<S> x, ReadContext& read) const;
  /// The same without fresh noise.
  void embed(std::span<const int> symbols, MatrixRef<S> x) const;

  /// What clamps the input for an example of a batch: its embedded symbols or its features.
  void clamp(const Batch& batch, Index example, MatrixRef<S> x, ReadContext& read) const;
  /// The same without fresh noise.
  void clamp(const Batch& batch, Index example, MatrixRef<S> x) const;
  /// Adds the gradient of that to those of the embedding, where there is one: of numbers to `gradient`, of devices what
  /// correlates at their lines to `sink`, which may be `gradient`. Returns the digital operations that the former takes.
  double accumulate_clamp(const Batch& batch, Index example, ConstMatrixRef<S> x_gradient, Gradient<S>& gradient,
                          GradientSink<S>& sink, const ReadContext& read) const;
  double accumulate_clamp(const Batch& batch, Index example, ConstMatrixRef<S> x_gradient, Gradient<S>& gradient) const;

  /// Where a free phase starts (NetworkPlan::start).
  void initial_state(ConstMatrixRef<S> x, MatrixRef<S> z) const;
  /// x_gradient += the gradient of x_in through that start, of a gradient of z.
  void accumulate_start(ConstMatrixRef<S> z_gradient, MatrixRef<S> x_gradient) const;

  /// The cost of one thread, for at most max_copies states side by side.
  std::unique_ptr<ExampleCost<S>> make_cost(Index max_copies) const;
  /// What stands in place of the plan's, or null.
  const std::shared_ptr<const NodeCost>& own_cost() const { return cost_; }
  /// Unit of the cost: nats of a cross-entropy.
  std::string loss_unit() const { return readout() >= 0 && cost_ == nullptr ? "nat" : "1"; }

 private:
  void look_up(int table, std::span<const int> rows, MatrixRef<S> x, Store store, ReadContext& read) const;
  double accumulate_rows(int table, std::span<const int> rows, ConstMatrixRef<S> x_gradient, Gradient<S>& gradient,
                         GradientSink<S>& sink, const ReadContext& read) const;

  std::shared_ptr<const NetworkPlan> plan_;
  Maps<S> maps_;
  Circuit<S> circuit_;
  std::shared_ptr<const NodeCost> cost_;
};

/// A map of a parameter held by numbers.
template <class S>
std::unique_ptr<LinearMap<S>> number_map(const Parameter& parameter, Matrix<S> weights);

/// The groups of the equilibrium: all but the read-out, which learns directly whatever the estimator. Together they are
/// `all` in every table and file.
std::vector<ParameterGroup> equilibrium_groups(const NetworkPlan& plan);

/// What a network is exported with.
struct NetlistOptions {
  Matrix<double> clamp;      ///< what clamps the circuit for one example (rows, inputs), as Network::clamp gives it
  CircuitSpec circuit = {};  ///< time constant and capacitance of the nodes, volts per unit
  CurrentCurve curve = {};   ///< of the devices
  std::string data_file;     ///< where ngspice writes the state
};

struct ExportedNetwork {
  std::string text;  ///< the netlist
  std::string note;  ///< a sentence about it for the user; may be empty
};

/// How a kind of network becomes a netlist (NetworkKind::netlist).
struct NetlistExport {
  /// Source terms or resistors that the netlist of a plan has. UserError for a plan that cannot be exported.
  double (*terms)(const NetworkPlan& plan);
  /// Keys of the config that make it smaller.
  std::vector<std::string> sizes;
  /// Weights are those of a noise-free read of the maps. UserError for parts or devices that cannot be exported.
  ExportedNetwork (*write)(const Network<double>& network, const NetlistOptions& options);
};

}  // namespace nudge
