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

/// Equilibrium network: a circuit of named nodes and the terms between them. It has linear maps that hold its
/// parameters (numbers or devices). An example clamps its input, and its cost acts through the read-out. A thread needs
/// a CircuitDynamics and a Cost to settle one example.
template <class S>
class Network {
 public:
  using Map = std::unique_ptr<LinearMap<S>>;

  /// Makes the network on maps in the order of plan->parameters(). cost: replaces the cost of the plan's read-out;
  /// null: keeps it.
  Network(std::shared_ptr<const NetworkPlan> plan, Maps<S> maps, std::shared_ptr<const NodeCost> cost = nullptr);

  const NetworkPlan& plan() const { return *plan_; }
  const std::shared_ptr<const NetworkPlan>& shared_plan() const { return plan_; }
  Circuit<S>& circuit() { return circuit_; }
  const Circuit<S>& circuit() const { return circuit_; }
  LinearMap<S>& map(int parameter) { return *maps_[static_cast<std::size_t>(parameter)]; }
  const LinearMap<S>& map(int parameter) const { return *maps_[static_cast<std::size_t>(parameter)]; }

  /// Number of parameters, and number of the read-out's parameter (-1: none).
  int parameters() const { return static_cast<int>(maps_.size()); }
  int readout() const { return plan_->readout().parameter; }
  std::vector<ParameterGroup> groups() const { return plan_->groups(); }
  std::vector<ParameterShape> parameter_shapes() const;
  /// Products (Parameter::products) of every parameter. 0 for the read-out, which learns outside the equilibrium, and
  /// for tables of numbers, which add up adjoints.
  std::vector<double> products() const;
  std::vector<std::string> parameter_names() const;

  /// Shape of a state.
  Index rows() const { return plan_->rows(); }
  Index cols() const { return circuit_.cols(); }

  /// Computes x_in (rows, inputs) of an example's symbols, one per row, each below the size of the table. Row i is a
  /// row of a table of numbers. For a table on devices it is a read with 1 on one line and 0 on all others. This read
  /// is of class `stored`: made once, and held for all phases of the example.
  void embed(std::span<const int> symbols, MatrixRef<S> x, ReadContext& read) const;
  /// Computes x_in without fresh noise.
  void embed(std::span<const int> symbols, MatrixRef<S> x) const;

  /// Computes the input clamp of an example of a batch: its embedded symbols (rows, inputs), or its features, which may be several frames
  /// (rows, frames · inputs).
  void clamp(const Batch& batch, Index example, Matrix<S>& x, ReadContext& read) const;
  /// Computes the input clamp without fresh noise.
  void clamp(const Batch& batch, Index example, Matrix<S>& x) const;
  /// Adds the gradient of clamp() to the gradients of the embedding, if any. Numbers go to `gradient`; for devices the
  /// correlations at their lines go to `sink`, which may be `gradient`. Returns the digital operations that the numbers
  /// take.
  double accumulate_clamp(const Batch& batch, Index example, ConstMatrixRef<S> x_gradient, Gradient<S>& gradient,
                          GradientSink<S>& sink, const ReadContext& read) const;
  double accumulate_clamp(const Batch& batch, Index example, ConstMatrixRef<S> x_gradient, Gradient<S>& gradient) const;

  /// Sets z to the start of a free phase (NetworkPlan::start).
  void initial_state(ConstMatrixRef<S> x, MatrixRef<S> z) const;
  /// Adds to x_gradient the gradient of x_in through initial_state(), from a gradient of z.
  void accumulate_start(ConstMatrixRef<S> z_gradient, MatrixRef<S> x_gradient) const;

  /// Makes the cost of one thread, for at most max_copies states side by side.
  std::unique_ptr<ExampleCost<S>> make_cost(Index max_copies) const;
  /// Cost that replaces the plan's, or null.
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

/// Makes a map of a parameter that holds it as numbers.
template <class S>
std::unique_ptr<LinearMap<S>> number_map(const Parameter& parameter, Matrix<S> weights);

/// Groups of the equilibrium: all but the read-out, which learns directly whatever the estimator. Together they are
/// `all` in every table and file.
std::vector<ParameterGroup> equilibrium_groups(const NetworkPlan& plan);

/// Options of a network's export.
struct NetlistOptions {
  Matrix<double> clamp;      ///< clamp of the circuit for one example (rows, inputs), as Network::clamp gives it
  CircuitSpec circuit = {};  ///< time constant and capacitance of the nodes, volts per unit
  CurrentCurve curve = {};   ///< current curve of the devices
  std::string data_file;     ///< file that ngspice writes the state to
};

struct ExportedNetwork {
  std::string text;  ///< the netlist
  std::string note;  ///< sentence about the netlist for the user; may be empty
};

/// Export of a kind of network to a netlist (NetworkKind::netlist).
struct NetlistExport {
  /// Returns the number of source terms or resistors in the netlist of a plan. UserError for a plan that cannot be
  /// exported.
  double (*terms)(const NetworkPlan& plan);
  /// Keys of the config that make the netlist smaller.
  std::vector<std::string> sizes;
  /// Writes the netlist with the weights of a noise-free read of the maps. UserError for parts or devices that cannot
  /// be exported.
  ExportedNetwork (*write)(const Network<double>& network, const NetlistOptions& options);
};

}  // namespace nudge
