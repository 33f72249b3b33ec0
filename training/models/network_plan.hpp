// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circuits/circuit.hpp"
#include "sim/base/matrix.hpp"
#include "sim/base/rng.hpp"
#include "training/learning/cost.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

/// Draws normal numbers of the given deviation, a pure function of seed and stream; float is double rounded.
template <class S>
Matrix<S> normal_matrix(Index rows, Index cols, double deviation, std::uint64_t seed, std::uint32_t stream) {
  Matrix<double> values(rows, cols);
  fill_normal<double>({seed, Purpose::weight_init, stream}, 0, 0,
                      std::span<double>(values.data(), static_cast<std::size_t>(values.size())));
  return (deviation * values).template cast<S>();
}

/// Bound of a Hopfield memory, whose spectral norm must stay inside its clamp (training/learning/controller.hpp). It
/// names columns `memory` of a parameter, and the parameter through which it returns if this is another one.
struct WeightBound {
  int parameter = 0;
  Columns memory;
  int returns = -1;  ///< parameter of the return; -1: the transposed read of the same array
};

/// Parameter of a network as a whole: its name in files, its shape, whether devices may hold it, and whether weight
/// decay acts on it.
struct Parameter {
  std::string name;
  ParameterShape shape;
  bool on_devices = false;
  bool decays = true;
  /// True for conductances: never below 0, and each is one device of its own (MappingKind::single), all on one scale.
  bool conductance = false;
  /// True for a table: a read chooses rows of it, by a drive of 1 on one line.
  bool table = false;
  double products = 1;      ///< products that its correlation adds up for one sample: the positions of a kernel
  double leak = 0;          ///< share lost in every accepted step: charge that leaks off a gate
  double leak_periods = 0;  ///< phases in which the charge falls by e; 0: the leak is its share alone
  int layer = 0;            ///< layer whose units it drives, from 1 on (layer_rates()); 0: none
  double unit_S = 0;        ///< conductance of the number 1 in its devices; 0: by MappingSpec
};

/// Table of (rows, cols) numbers or devices: of symbols, of positions. Weight decay leaves it alone.
inline Parameter table_parameter(const char* name, ParameterShape shape, bool on_devices) {
  return {name, shape, on_devices, false, false, true};
}

/// Named part of a parameter, the unit of gradient tables: W_q is columns [0, C) of the input array of the block.
struct ParameterGroup {
  std::string name;
  int parameter;
  Columns columns;
  bool readout = false;  ///< true outside the equilibrium: learns directly whatever the estimator
};

template <class S>
using Maps = std::vector<std::unique_ptr<LinearMap<S>>>;

/// Embedding of an example into the clamp of the circuit. It adds rows of a table of symbols and rows of a table of
/// positions; or it takes the features of its rows as they are.
struct Embedding {
  int symbols = 0;     ///< number of the table of symbols (V, inputs); -1: fed by features, (rows, inputs)
  int positions = -1;  ///< number of the table of positions (rows, inputs); -1: none
};

/// Start of a free phase.
enum class StartState {
  input,  ///< x_in in every node that is as wide, 0 in the others
  rest,   ///< 0, or the nearest state in the box of a node
};

/// Rectified projections of a node: columns of a parameter.
struct Gates {
  Columns node;
  int parameter = 0;
  Columns columns;
};

/// Structure of a network, without its numbers: its nodes, the terms between them, its parameters and groups, where
/// examples enter and where the cost reads. There is one class per kind and one object per run. A network in float, its
/// copy in double and every thread's share of them are made from the same plan.
class NetworkPlan {
 public:
  virtual ~NetworkPlan() = default;

  virtual std::string_view kind() const = 0;

  /// Rows T of a state: the tokens of a sequence, or samples side by side.
  virtual Index rows() const = 0;
  /// True if rows are coupled. Uncoupled rows are independent samples that go through the circuit one after the other.
  /// Time and energy are then counted for one sample, and T concerns only the simulation.
  virtual bool couples_rows() const { return true; }
  /// Number of columns of the input clamp.
  virtual Index inputs() const = 0;
  virtual std::vector<Node> nodes() const = 0;
  virtual Damping damping() const { return {}; }

  /// Parameters by number, and groups in the order of tables.
  virtual std::vector<Parameter> parameters() const = 0;
  virtual std::vector<ParameterGroup> groups() const = 0;
  virtual Embedding embedding() const = 0;
  virtual StartState start() const { return StartState::input; }
  virtual NodeReadout readout() const = 0;

  /// Sets the initial weights, one matrix per parameter: a pure function of the seed.
  virtual void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const = 0;
  virtual void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const = 0;

  /// Makes the terms, on maps in the order of parameters().
  virtual std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const = 0;
  virtual std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const = 0;

  /// Bounds of the weights that keep the network stable while it learns, beyond the damping.
  virtual std::vector<WeightBound> bounds() const { return {}; }

  /// Rectified memories, whose gates a nudge may flip (reported by gradcheck).
  virtual std::vector<Gates> gates() const { return {}; }
};

/// Defines initial() and terms() of a plan in both precisions, by templates of `seed` and `weights`, and of `maps`.
#define NUDGE_PLAN_IN(S, PLAN, INITIAL, TERMS)                                               \
  void PLAN::initial(std::uint64_t seed, std::vector<Matrix<S>>& weights) const { INITIAL; } \
  std::vector<std::unique_ptr<Term<S>>> PLAN::terms(const Maps<S>& maps) const { return TERMS; }
#define NUDGE_PLAN(PLAN, INITIAL, TERMS)     \
  NUDGE_PLAN_IN(float, PLAN, INITIAL, TERMS) \
  NUDGE_PLAN_IN(double, PLAN, INITIAL, TERMS)

/// Largest leak L of a node, known before there is a task, as the stiffest part that is always there: constant +
/// per_damping · c at the damping c. 0: its units are loaded by their terms alone (Circuit::largest_load).
struct NodeLeak {
  double constant = 1;
  double per_damping = 0;
  double at(double damping) const { return constant + per_damping * damping; }
};

}  // namespace nudge
