// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "circuits/circuit.hpp"
#include "training/learning/node_readout.hpp"
#include "training/models/parameter.hpp"
#include "training/models/weight_bound.hpp"

namespace nudge {

template <class S>
using Maps = std::vector<std::unique_ptr<LinearMap<S>>>;

/// How an example becomes what clamps the circuit: rows of a table of symbols, and of one of positions added to them; or the
/// features of its rows as they are.
struct Embedding {
  int symbols = 0;     ///< parameter (V, inputs); -1: fed by features, (rows, inputs)
  int positions = -1;  ///< parameter (rows, inputs); -1: none
};

/// Where a free phase starts.
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

/// What a network is, apart from the numbers in it: its nodes, the terms between them, its parameters and groups, where
/// examples enter and where the cost reads. One class per kind, one object per run: a network in float, its copy in double
/// and every thread's share of them are made from the same plan.
class NetworkPlan {
 public:
  virtual ~NetworkPlan() = default;

  virtual std::string_view kind() const = 0;

  /// Rows T of a state: the tokens of a sequence, or samples side by side.
  virtual Index rows() const = 0;
  /// Whether rows are coupled. Where they are not, they are independent samples that go through the circuit one after the
  /// other: time and energy are those of one, and T is a matter of the simulation.
  virtual bool couples_rows() const { return true; }
  /// Columns of what clamps the circuit's input.
  virtual Index inputs() const = 0;
  virtual std::vector<Node> nodes() const = 0;
  virtual Damping damping() const { return {}; }

  /// All parameters by number, and the groups in the order of tables.
  virtual std::vector<Parameter> parameters() const = 0;
  virtual std::vector<ParameterGroup> groups() const = 0;
  virtual Embedding embedding() const = 0;
  virtual StartState start() const { return StartState::input; }
  virtual NodeReadout readout() const = 0;

  /// Initial weights, one matrix per parameter: a pure function of the seed.
  virtual void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const = 0;
  virtual void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const = 0;

  /// The terms, on maps as parameters() lists them.
  virtual std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const = 0;
  virtual std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const = 0;

  /// What keeps it stable while it learns, beyond the damping: bounds of its weights.
  virtual std::vector<WeightBound> bounds() const { return {}; }

  /// The rectified memories, whose gates a nudge may flip (reported by gradcheck).
  virtual std::vector<Gates> gates() const { return {}; }
};

}  // namespace nudge
