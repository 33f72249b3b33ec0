// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "circuits/terms/term.hpp"
#include "circuits/unit_spread.hpp"
#include "devices/stochastic_bit.hpp"

namespace nudge {

/// Node of a circuit: a range of columns of the state, with its leak. Its force starts with x_in − L z where the input drives
/// it, else −L z; both are conservative and have no weights.
struct Node {
  std::string name;
  Columns columns;
  double leak = 1.0;    ///< L without damping: the clamp to the node's drive, and the load by other nodes
  bool driven = false;  ///< the input x_in (rows, inputs) is added to its force
  bool damped = false;  ///< s·c is added to L
  /// Lower and upper limit of its states (sim/box.hpp); infinite: none.
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  Index turned = 0;        ///< number of its last columns that are kept in the negative of that range: a diode the
                           ///< other way round
  double scale = 1;        ///< units of its state per unit of its voltage, in circuit.read_voltage
  double temperature = 0;  ///< temperature of its bath (sim/bath.hpp), in units of E; 0 at every node: there is no bath
  std::shared_ptr<const StochasticBits> bits = nullptr;  ///< make its units binary in the bath, one per unit
  std::shared_ptr<const UnitSpread> units = nullptr;  ///< mismatch of its units, straight ones alone; null: all alike
  bool bounded() const { return std::isfinite(lower) || std::isfinite(upper); }
  /// Lower limit of unit j.
  double lower_of(Index j) const { return units ? lower + units->offset[static_cast<std::size_t>(j)] : lower; }
  double upper_of(Index j) const {
    if (!units) return upper;
    const auto at = static_cast<std::size_t>(j);
    return upper * (1 + units->gain[at]) + units->offset[at];
  }
};

/// Damping force −s·c·z, which a controller may regulate.
struct Damping {
  double gain = 1.0;   ///< s of the force s (Mixer(z) − c z)
  double value = 0.0;  ///< c
  double total() const { return gain * value; }
};

/// Circuit of nodes and the terms between them: F(z) = Σ_nodes (x_in − L z) + Σ_terms F_term(z). The rows of a state are the
/// tokens of a sequence, which terms may couple, or independent samples side by side. A Circuit holds weights only; a
/// CircuitDynamics holds the memory with which one thread settles one example.
template <class S>
class Circuit {
 public:
  /// Makes a circuit; nodes cover the columns [0, cols) in order without gaps, and terms are evaluated in the order given.
  Circuit(std::vector<Node> nodes, Index inputs, std::vector<std::unique_ptr<Term<S>>> terms, Damping damping);

  /// Adds a term that acts between the units of the same columns alone.
  void add(std::unique_ptr<Term<S>> diagonal);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<std::unique_ptr<Term<S>>>& terms() const { return terms_; }
  /// First term of a type; null if there is none.
  template <class T>
  const T* find() const {
    for (const auto& term : terms_) {
      if (const T* found = dynamic_cast<const T*>(term.get())) return found;
    }
    return nullptr;
  }
  Index cols() const { return nodes_.back().columns.end(); }
  /// Number of columns of the clamped input.
  Index inputs() const { return inputs_; }

  const Damping& damping() const { return damping_; }
  void set_damping(double c) { damping_.value = c; }
  /// Leak L of a node; least_leak() is the smallest of all nodes.
  double leak(const Node& node) const { return node.leak + (node.damped ? damping_.total() : 0.0); }
  double least_leak() const;
  const TermTraits& traits(std::size_t term) const { return traits_[term]; }

  /// Load of every unit, (1, cols): leaks and terms (Term::add_load). Returns false if a term has no such load; then it holds only the leaks.
  bool loads(Matrix<S>& load) const;
  /// Largest load of a unit: it bounds an explicit step.
  double largest_load() const;

  /// True if term number `term` acts on the node; reads(): if the term reads it.
  bool acts_on(std::size_t term, std::size_t node) const { return reach_[term].targets[node]; }
  bool reads(std::size_t term, std::size_t node) const { return reach_[term].sources[node]; }

  /// True if every term acts on a later node than those that it reads: J is lower triangular with −L on the diagonal.
  bool feed_forward() const { return feed_forward_; }

  /// True if its nodes, or reads of any of its arrays, have fresh noise.
  bool noisy() const;
  /// True if all of its terms can keep a point for later (TermTraits::keeps_points), and no node has noise.
  bool keeps_points() const;
  /// White noise σ, per √τ, of a node that is held by a conductance of 1 (clamp_noise() of the circuit's components); 0:
  /// none. A node is held by its leak or, where it has none, by its load.
  double node_noise() const { return node_noise_; }
  void set_node_noise(double sigma) { node_noise_ = sigma; }
  /// Standard deviation of the voltage of a node whose motion is not simulated, in circuit.read_voltage; its samples
  /// (SampleHold) have it. 0: none.
  double sampled_noise() const { return sampled_noise_; }
  void set_sampled_noise(double sigma) { sampled_noise_ = sigma; }
  NudgedDrive nudged_drive() const { return nudged_drive_; }
  /// Sets how the nodes are driven in nudged phases; all terms must be able to take the difference.
  void set_nudged_drive(NudgedDrive drive);

 private:
  void note(const Term<S>& term);

  std::vector<Node> nodes_;
  Index inputs_;
  std::vector<std::unique_ptr<Term<S>>> terms_;
  std::vector<TermTraits> traits_;  ///< traits of the terms when the circuit was made
  bool feed_forward_ = true;
  Damping damping_;
  /// Nodes that one term acts on, and those that it reads, by node.
  struct Reach {
    std::vector<bool> sources, targets;
  };
  std::vector<Reach> reach_;
  double node_noise_ = 0, sampled_noise_ = 0;
  NudgedDrive nudged_drive_ = NudgedDrive::state;
};

}  // namespace nudge
