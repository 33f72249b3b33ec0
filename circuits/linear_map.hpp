// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

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

/// A weight matrix W (inputs, outputs), however it is made. Weights that share an input are column blocks of one map.
/// Reads are const and thread-safe; program and apply_update are not.
template <class S>
class LinearMap {
 public:
  virtual ~LinearMap() = default;

  virtual Index inputs() const = 0;
  virtual Index outputs() const = 0;

  /// y = x W[:, columns] (or +=): drive the rows, sense the columns. x (n, inputs), y (n, columns.count).
  virtual void forward(ConstMatrixRef<S> x, MatrixRef<S> y, Columns columns, Store store, ReadContext& read) const = 0;

  /// x = y W[:, columns]ᵀ (or +=): drive the columns, sense the rows of the same devices.
  virtual void transposed(ConstMatrixRef<S> y, MatrixRef<S> x, Columns columns, Store store,
                          ReadContext& read) const = 0;

  /// Derivatives of a read at its operating point, the drive x₀ (T, inputs) of a forward or y₀ (T, columns.count) of a
  /// transposed read; directions are (k·T, ...), k copies that share the point. A product has none but itself, and a circuit
  /// sends small drives through the same devices: these defaults. Where read.exact asks for it, a map whose reads are not
  /// linear (curved devices, amplifiers) computes the derivative of its noise-free read instead.
  ///     forward_jvp: y = D v,   forward_vjp: x = Dᵀ u,   D = ∂forward/∂x at x₀;   the same of transposed reads at y₀
  virtual void forward_jvp(ConstMatrixRef<S> /*x0*/, ConstMatrixRef<S> v, MatrixRef<S> y, Columns columns, Store store,
                           ReadContext& read) const {
    forward(v, y, columns, store, read);
  }
  virtual void forward_vjp(ConstMatrixRef<S> /*x0*/, ConstMatrixRef<S> u, MatrixRef<S> x, Columns columns, Store store,
                           ReadContext& read) const {
    transposed(u, x, columns, store, read);
  }
  virtual void transposed_jvp(ConstMatrixRef<S> /*y0*/, ConstMatrixRef<S> v, MatrixRef<S> x, Columns columns,
                              Store store, ReadContext& read) const {
    transposed(v, x, columns, store, read);
  }
  virtual void transposed_vjp(ConstMatrixRef<S> /*y0*/, ConstMatrixRef<S> u, MatrixRef<S> y, Columns columns,
                              Store store, ReadContext& read) const {
    forward(u, y, columns, store, read);
  }

  /// Adds scale · ⟨u, ∂read/∂W⟩ to the sink, for a forward read at x₀ (u on its outputs) or a transposed read at y₀ (u on
  /// the rows): x₀ᵀ u and uᵀ y₀, what drives rows and columns at the same time; one copy.
  virtual void correlate_forward(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                                 GradientSink<S>& sink, const ReadContext& /*read*/) const {
    sink.accumulate(parameter, columns, scale, x0, u);
  }
  virtual void correlate_transposed(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                                    GradientSink<S>& sink, const ReadContext& /*read*/) const {
    sink.accumulate(parameter, columns, scale, u, y0);
  }

  /// Whether exact derivatives depend on the operating point, so that it must be kept.
  virtual bool curved() const { return false; }

  /// Whether any read may have fresh noise.
  virtual bool noisy() const { return false; }

  /// Whether every read, of whatever class, is the product itself: numbers, no devices and no converters.
  virtual bool plain() const { return false; }

  /// Heat that a conductance of one unit of weight takes from a drive of 1 in one τ, J; 0: no devices, no energy is counted.
  virtual double unit_heat_J() const { return 0; }

  /// The noise-free circuit of this map in double, its conductances as they are now: reads without fresh noise and rounding,
  /// whose derivatives are exact. A copy; program() sets its weights exactly.
  virtual std::unique_ptr<LinearMap<double>> noise_free() const = 0;

  /// Ask for W ← W + delta; devices may take only part of it. `step` is the training step; random numbers are
  /// those of the map's own count of updates, so that no two updates share them.
  virtual void apply_update(const Matrix<S>& delta, std::uint64_t step) = 0;

  /// The same of scale · direction, which numbers take in one pass.
  virtual void apply_scaled(const Matrix<S>& direction, S scale, std::uint64_t step) {
    apply_update(scale * direction, step);
  }

  /// The same for a change that is no step of learning and must act at once (a bound on the weights): schemes that gather
  /// updates elsewhere before they reach W write it to W itself.
  virtual void apply_now(const Matrix<S>& delta, std::uint64_t step) { apply_update(delta, step); }

  /// Whether training should hand over the factors of a gradient instead of their sum: rank-1 updates inside the array.
  virtual bool takes_factors() const { return false; }

  /// Ask for W[:, columns] ← W[:, columns] − rate · scale xᵀ y for every pair, in order. Only where takes_factors() or plain().
  virtual void apply_factors(const std::vector<FactorPair<S>>& factors, S rate);

  /// Set W to target as well as the devices can (programming error, bounds).
  virtual void program(const Matrix<S>& target) = 0;

  /// Time passes: what devices do by themselves between writes (drift, leak, telegraph and 1/f noise). No two calls on one
  /// map share `step`. Nothing happens to exact weights.
  virtual void advance_time(double /*seconds*/, std::uint64_t /*step*/) {}

  /// The W that a noise-free read uses.
  virtual const Matrix<S>& weights() const = 0;

  /// Sums of weights(), of maps that keep them (conductances, whose sums load nodes); null: to be summed by who asks.
  virtual const WeightSums<S>* sums() const { return nullptr; }

  /// Internal state for checkpoints; after writing into the arrays call state_restored().
  virtual std::vector<StateArray<S>> state() = 0;
  virtual void state_restored() {}

  /// What the hardware would report of itself; empty for exact matrices.
  virtual std::vector<MapReading> readings() const { return {}; }

  Columns all_columns() const { return {0, outputs()}; }
};

template <class S>
void LinearMap<S>::apply_factors(const std::vector<FactorPair<S>>& /*factors*/, S /*rate*/) {
  NUDGE_EXPECT(takes_factors());
}

}  // namespace nudge
