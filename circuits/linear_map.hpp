// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "circuits/array_use.hpp"
#include "circuits/read_context.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/matrix.hpp"
#include "sim/base/product.hpp"
#include "sim/gradient_sink.hpp"

namespace nudge {

/// A named array of a map's internal state (weights, conductances): what a checkpoint stores and restores.
template <class S>
struct StateArray {
  std::string name;
  std::string unit;
  std::string description;
  Matrix<S>* values;
};

/// One measured fact about a map for the run log (pulses sent, share of devices at a bound, ...).
struct MapReading {
  std::string name;
  std::string unit;
  std::string description;
  double value;
};

/// A change of W[:, columns] as a sum of outer products, scale · xᵀ y: x (n, inputs), y (n, columns.count).
template <class S>
struct FactorPair {
  Columns columns;
  S scale;
  Matrix<S> x;
  Matrix<S> y;
};

/// Σ over the inputs of every column (1, outputs) and over the outputs of every row (1, inputs) of a weight matrix.
template <class S>
struct WeightSums {
  Matrix<S> of_columns;
  Matrix<S> of_rows;
};

/// What those who read or train a map must know of it.
template <class S>
struct MapTraits {
  bool curved = false;  ///< exact derivatives depend on the operating point, so that it must be kept
  bool noisy = false;   ///< any read may have fresh noise
  bool plain = false;   ///< every read, of whatever class, is the product itself: numbers, no devices, no converters
  bool takes_factors =
      false;  ///< training hands over the factors of a gradient, not their sum: rank-1 updates in the array
  /// Heat that a conductance of one unit of weight takes from a drive of 1 in one τ; 0: no devices, no energy is counted.
  double unit_heat_J = 0;
  const WeightSums<S>* sums = nullptr;  ///< of weights(), of maps that keep them: conductances, whose sums load nodes
  /// Of an array driven at rows and columns at once: what loads the nodes that drive them (LoadTrim).
  const WeightSums<S>* residue = nullptr;
  double line_load =
      0;  ///< conductance of the heaviest line that an amplifier senses, in units of weight; 0: there is none
};

enum class UpdateKind {
  learning,   ///< a step of training, whatever scheme gathers it on its way to W
  immediate,  ///< must act on W itself and at once: a bound on the weights
};

/// A request W ← W + scale · direction, or, with factors, W[:, columns] ← W[:, columns] + scale · (f.scale xᵀ y) for each of
/// them in order (only where the map is plain or takes factors). Devices may take only part of it.
template <class S>
struct WeightUpdate {
  const Matrix<S>* direction = nullptr;  ///< (inputs, outputs); null: the factors
  std::span<const FactorPair<S>> factors = {};
  S scale = 1;
  UpdateKind kind = UpdateKind::learning;
  /// The learning rate of this step over the largest of the run, which the request has in it: rules that gather changes
  /// at a constant rate take it out again. Positive where the request is not zero.
  S schedule = 1;
  Matrix<S> delta() const { return scale * *direction; }
};

/// A weight matrix W (inputs, outputs), however it is made: what reads it, what correlates at it, what writes it. Weights that
/// share an input are column blocks of one map. Reads are const and thread-safe; program and apply are not.
///
/// A training step calls the hooks in the order of their numbers: 1 in the free and nudged phases, 2 in the nudged phase, 3 for the
/// gradient, 4 for the update, 5 after it.
template <class S>
class LinearMap {
 public:
  virtual ~LinearMap() = default;

  // ---- Must have ----

  virtual MapTraits<S> traits() const = 0;

  /// 1. out = x W[:, columns] (forward: x (n, inputs), out (n, columns.count)) or out = x W[:, columns]ᵀ (transposed: the other way
  /// round); or +=, −=.
  virtual void read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
                    ReadContext& read) const = 0;

  /// 4. Changes W as the update asks. Random numbers are those of the map's own count of updates, so that no two updates share them.
  virtual void apply(const WeightUpdate<S>& update) = 0;

  /// Sets W to target as well as the devices can (programming error, bounds).
  virtual void program(const Matrix<S>& target) = 0;

  /// The W that a noise-free read uses.
  virtual const Matrix<S>& weights() const = 0;

  /// Internal state for checkpoints; after writing into the arrays call state_restored().
  virtual std::vector<StateArray<S>> state() = 0;

  /// The noise-free circuit of this map in double, its conductances as they are now: reads without fresh noise and rounding,
  /// whose derivatives are exact. A copy; program() sets its weights exactly.
  virtual std::unique_ptr<LinearMap<double>> noise_free() const = 0;

  // ---- Has a default ----

  /// 2. Derivative D of a read at its operating point x₀ (T, ...): out = D v, or out = Dᵀ v; directions are (k·T, ...), k copies
  /// that share the point. Default: the read itself, right for a product and for small drives through the same devices. If read.exact
  /// asks for it, a map whose reads are not linear (curved devices, amplifiers) computes the derivative of its noise-free read.
  virtual void derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> /*x0*/, ConstMatrixRef<S> v,
                          MatrixRef<S> out, Columns columns, Store store, ReadContext& context) const {
    read(way_of(way, which), v, out, columns, store, context);
  }

  /// 3. Adds scale · ⟨u, ∂read/∂W⟩ to the sink, for a read at x₀ with u at its outputs: x₀ᵀ u of a forward read, uᵀ x₀ of a transposed
  /// one, what drives rows and columns at the same time; one copy.
  virtual void correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale,
                         int parameter, GradientSink<S>& sink, const ReadContext& /*read*/) const {
    const bool forward = way == ReadDirection::forward;
    sink.accumulate(parameter, columns, scale, forward ? x0 : u, forward ? u : x0);
  }

  /// 5. Lets time pass: what devices do by themselves between writes (drift, leak, telegraph and 1/f noise), and under reads. No two
  /// calls on one map share `step`. Default: nothing happens, as to exact weights.
  virtual void advance_time(const Elapsed& /*time*/, std::uint64_t /*step*/) {}

  /// Makes good what the map derives from its state, after a checkpoint was read into the arrays of state().
  virtual void state_restored() {}

  /// Facts that the hardware would report of itself. Default: none, as of exact matrices.
  virtual std::vector<MapReading> readings() const { return {}; }

  // The same by other words.
  Index inputs() const { return weights().rows(); }
  Index outputs() const { return weights().cols(); }
  Columns all_columns() const { return {0, outputs()}; }
  void forward(ConstMatrixRef<S> x, MatrixRef<S> y, Columns columns, Store store, ReadContext& context) const {
    read(ReadDirection::forward, x, y, columns, store, context);
  }
  void transposed(ConstMatrixRef<S> y, MatrixRef<S> x, Columns columns, Store store, ReadContext& context) const {
    read(ReadDirection::transposed, y, x, columns, store, context);
  }
  void apply_update(const Matrix<S>& delta) { apply({.direction = &delta}); }
  void apply_factors(const std::vector<FactorPair<S>>& factors, S rate) { apply({.factors = factors, .scale = -rate}); }
  bool noisy() const { return traits().noisy; }
  bool plain() const { return traits().plain; }
  bool takes_factors() const { return traits().takes_factors; }
};

}  // namespace nudge
