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

/// Facts of a map that its readers and trainers need.
template <class S>
struct MapTraits {
  bool curved = false;  ///< exact derivatives depend on the operating point, which must be kept
  bool noisy = false;   ///< any read may have fresh noise
  bool plain = false;   ///< every read, of whatever class, is the product itself: numbers, no devices, no converters
  bool takes_factors =
      false;  ///< training hands over the factors of a gradient, not their sum: rank-1 updates in the array
  /// Heat that a conductance of one unit of weight takes from a drive of 1 in one τ; 0: no devices, no energy is counted.
  double unit_heat_J = 0;
  const WeightSums<S>* sums = nullptr;  ///< sums of weights(), if the map keeps them: conductances load nodes by their
                                        ///< sums
  /// Load on the nodes that drive an array at rows and columns at once (LoadTrim).
  const WeightSums<S>* residue = nullptr;
  double line_load =
      0;  ///< conductance of the heaviest line that an amplifier senses, in units of weight; 0: no such line
};

enum class UpdateKind {
  learning,   ///< a step of training, whatever scheme gathers it on its way to W
  immediate,  ///< must act on W itself and at once: a bound on the weights
};

/// Request W ← W + scale · direction. With factors it is W[:, columns] ← W[:, columns] + scale · (f.scale xᵀ y) for each of
/// them in order, which needs a map that is plain or takes factors. Devices may take only part of a request.
template <class S>
struct WeightUpdate {
  const Matrix<S>* direction = nullptr;  ///< (inputs, outputs); null: the factors
  std::span<const FactorPair<S>> factors = {};
  S scale = 1;
  UpdateKind kind = UpdateKind::learning;
  /// Learning rate of this step over the largest of the run; the request contains this factor. Rules that gather
  /// changes at a constant rate divide by it. Positive where the request is not zero.
  S schedule = 1;
  Matrix<S> delta() const { return scale * *direction; }
};

/// A weight matrix W (inputs, outputs), however it is made. It is read, correlated and written here. Weights that share an input
/// are column blocks of one map. Reads are const and thread-safe; program and apply are not.
///
/// A training step calls the hooks in the order of their numbers: 1 in the free and nudged phases, 2 in the nudged phase. It calls
/// 3 for the gradient, 4 for the update, and 5 after the update.
template <class S>
class LinearMap {
 public:
  virtual ~LinearMap() = default;

  // ---- Must have ----

  virtual MapTraits<S> traits() const = 0;

  /// 1. Reads out = x W[:, columns] (forward) or out = x W[:, columns]ᵀ (transposed); or +=, −=. Shapes of a forward read: x (n,
  /// inputs), out (n, columns.count); a transposed read has them the other way round.
  virtual void read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
                    ReadContext& read) const = 0;

  /// 4. Changes W as the update asks. The map counts its updates for its random numbers, so no two updates share them.
  virtual void apply(const WeightUpdate<S>& update) = 0;

  /// Sets W to target as well as the devices can (programming error, bounds).
  virtual void program(const Matrix<S>& target) = 0;

  /// The W that a noise-free read uses.
  virtual const Matrix<S>& weights() const = 0;

  /// Internal state for checkpoints; after writing into the arrays call state_restored().
  virtual std::vector<StateArray<S>> state() = 0;

  /// Copy of this map as a noise-free circuit in double, with its present conductances. Its reads have neither fresh noise
  /// nor rounding, and exact derivatives. program() sets its weights exactly.
  virtual std::unique_ptr<LinearMap<double>> noise_free() const = 0;

  // ---- Has a default ----

  /// 2. Derivative D of a read at its operating point x₀ (T, ...): out = D v, or out = Dᵀ v. Directions are (k·T, ...), k copies that
  /// share the point. Default: the read itself, right for a product and for small drives through the same devices. If read.exact asks
  /// for it, a map whose reads are not linear (curved devices, amplifiers) computes the derivative of its noise-free read.
  virtual void derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> /*x0*/, ConstMatrixRef<S> v,
                          MatrixRef<S> out, Columns columns, Store store, ReadContext& context) const {
    read(way_of(way, which), v, out, columns, store, context);
  }

  /// 3. Adds scale · ⟨u, ∂read/∂W⟩ to the sink, for a read at x₀ with u at its outputs; one copy. This is x₀ᵀ u of a forward read and
  /// uᵀ x₀ of a transposed one: x₀ and u drive rows and columns at the same time.
  virtual void correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale,
                         int parameter, GradientSink<S>& sink, const ReadContext& /*read*/) const {
    const bool forward = way == ReadDirection::forward;
    sink.accumulate(parameter, columns, scale, forward ? x0 : u, forward ? u : x0);
  }

  /// 5. Lets time pass for the devices, between writes (drift, leak, telegraph and 1/f noise) and under reads. No two calls on one
  /// map share `step`. Default: nothing happens, as with exact weights.
  virtual void advance_time(const Elapsed& /*time*/, std::uint64_t /*step*/) {}

  /// Updates whatever the map derives from its state, after a checkpoint was read into the arrays of state().
  virtual void state_restored() {}

  /// Facts that the hardware reports of itself. Default: none, as with exact matrices.
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
