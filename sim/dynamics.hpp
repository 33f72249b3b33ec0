// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>

#include "sim/base/matrix.hpp"
#include "sim/box.hpp"
#include "sim/gradient_sink.hpp"
#include "sim/read_class.hpp"

namespace nudge {

/// Which terms of a force: a conservative term is minus the gradient of an energy (symmetric Jacobian).
enum class Part { all, conservative, nonconservative };

/// Squared norms of a node's columns after a step of a sweep: of its state, and of the force that moved it.
struct NodeMove {
  double state = 0, force = 0;
};

/// A force linearised at a point z₀, with everything cached that the point needs. Directions are (k·rows, cols): k
/// copies of the system stacked by rows share the cache (the +β and −β states of one nudged phase run side by side).
/// Owned by its Dynamics and valid until the next linearize().
template <class S>
class Linearization {
 public:
  virtual ~Linearization() = default;

  /// F(z₀) of the chosen terms, (rows, cols).
  virtual void force(MatrixRef<S> f, Part part = Part::all) = 0;

  /// out = J v, drive forward; J = ∂F/∂z at z₀ of the chosen terms, v and out (k·rows, cols).
  virtual void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part = Part::all) = 0;

  /// out = Jᵀ u, drive backward.
  virtual void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part = Part::all) = 0;

  /// Correlate locally: adds scale · ⟨u, ∂F/∂θ(z₀)⟩ for every parameter θ of the force to the sink; u (rows, cols).
  virtual void accumulate_parameter_gradient(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink) = 0;

  /// The last two at once, of one copy: out = Jᵀ u, and scale · ⟨u, ∂F/∂θ(z₀)⟩ to the sink.
  virtual void pull(ConstMatrixRef<S> u, S scale, MatrixRef<S> out, GradientSink<S>& sink) {
    accumulate_parameter_gradient(u, scale, sink);
    vjp(u, out, Part::all);
  }

  /// Of a system kept in a box: 1 where z₀ can move, 0 where it rests on a bound and its force pushes outwards or not at all
  /// (Box), (rows, cols). Force, J v, Jᵀ u and correlation are those of the units that can move: J = m (∂F/∂z) m. Null: all can.
  virtual const Matrix<S>* moving() const { return nullptr; }

  /// The laws of the nudged phase (sim/nudged_law.hpp) in one pass, for systems that share work between their parts; z and f
  /// (k·rows, cols). false: f is not touched, the law is put together from force, jvp and vjp.
  virtual bool corrected_force(ConstMatrixRef<S> /*z*/, MatrixRef<S> /*f*/) { return false; }
  virtual bool transposed_force(ConstMatrixRef<S> /*z*/, MatrixRef<S> /*f*/) { return false; }
  /// The transposed law of one node into its columns of f, the others undefined (Dynamics::node_columns).
  virtual bool node_transposed_force(ConstMatrixRef<S> /*z*/, MatrixRef<S> /*f*/, std::size_t /*node*/) {
    return false;
  }

  /// (Jᵀ u) of one node into its columns of out, the others undefined.
  virtual void node_vjp(ConstMatrixRef<S> u, MatrixRef<S> out, std::size_t /*node*/) { vjp(u, out, Part::all); }

  /// Of a feed-forward system, both at once of what acts on a node, u being there final: adds (∂F_node/∂z)ᵀ u_node, its leak
  /// excluded, to the columns of u of the earlier nodes, and scale · ⟨u_node, ∂F_node/∂θ⟩ to the sink. false: u is not touched.
  virtual bool pull_node(MatrixRef<S> /*u*/, S /*scale*/, GradientSink<S>& /*sink*/, std::size_t /*node*/) {
    return false;
  }
};

/// Anything that settles: τ dz/dt = F(z). A state is (rows, cols). Not thread-safe: one object per thread.
template <class S>
class Dynamics {
 public:
  virtual ~Dynamics() = default;

  virtual Index rows() const = 0;
  virtual Index cols() const = 0;

  /// f = F(z) of the chosen terms; z and f (k·rows, cols), k ≥ 1 independent copies.
  virtual void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part = Part::all) = 0;

  virtual Linearization<S>& linearize(ConstMatrixRef<S> z) = 0;

  /// f = F(z) (rows, cols), and the linearisation at z kept under a number (0, 1, …) until recall() makes it the present one, good
  /// for derivatives and correlation: what goes back over a trajectory need not go over it twice. false: this system, or its
  /// reads as they are, cannot; nothing is touched.
  virtual bool remember(ConstMatrixRef<S> /*z*/, MatrixRef<S> /*f*/, std::size_t /*number*/) { return false; }
  /// Once of each number that was remembered.
  virtual Linearization<S>& recall(std::size_t /*number*/) {
    throw std::logic_error("recall() of a system that remembers nothing");
  }

  /// Nodes of the state as ranges of columns, in the order in which they drive each other: what a sweep visits.
  virtual std::size_t nodes() const { return 1; }
  virtual Columns node_columns(std::size_t /*node*/) const { return {0, cols()}; }

  /// F(z) of one node into its columns of f; the other columns are left undefined. z and f as in force().
  virtual void node_force(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t /*node*/) { force(z, f, Part::all); }

  /// A step of a sweep in one node: z_j ← P(z_j + ε m ⊙ F_j(z)), P the projection onto box() and m of what it lets move. f (as z)
  /// is working memory. In one pass where a system can.
  virtual NodeMove node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) {
    const Columns columns = node_columns(node);
    node_force(z, f, node);
    auto state = z.middleCols(columns.begin, columns.count);
    const auto force = f.middleCols(columns.begin, columns.count);
    if (const Box<S>* limits = box()) {
      limits->step(z, f, epsilon, columns);
    } else {
      state += epsilon * force;
    }
    return {squared_norm<S>(state), squared_norm<S>(force)};
  }

  /// The box that solvers keep the states in: they project after every step. force() and the laws of the nudged phase know
  /// nothing of it, linearize() does. Null: none.
  virtual const Box<S>* box() const { return nullptr; }

  /// D (1, cols) of a system in which the units of one node do not act on each other and D_i = −∂F_i/∂z_i is the same in every
  /// state, but for laws of single units: for fixed other nodes balance() finds F_i = 0 (sim/steady/coordinate.cpp). Null: not
  /// such a system.
  virtual const Matrix<S>* loads() { return nullptr; }

  /// Of a system with loads: moves the units of a node to where nothing pushes them while the others stand still. f is what pushes
  /// them at z, inverse (1, cols) holds 1/D, 0 for what nothing loads, which stays: z_i ← z_i + f_i/D_i, and where a law of a unit's
  /// own bends its force (a diode) the root of f_i − D_i (x − z_i) + law(x) − law(z_i).
  virtual void balance(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) {
    z.middleCols(columns.begin, columns.count).array() += f.middleCols(columns.begin, columns.count).array().rowwise() *
                                                          inverse.row(0).segment(columns.begin, columns.count).array();
  }

  /// Whether every node is driven by earlier ones and its own leak alone, so that J is lower triangular with −L on the diagonal.
  virtual bool feed_forward() const { return false; }

  /// f = F(z) near the point z₀ of the last linearize(): as force(), but hardware may drive its arrays with z − z₀ alone
  /// and add the products stored at z₀.
  virtual void nearby_force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) { force(z, f, part); }

  /// E(z) with −∂E/∂z = F_conservative(z), summed over the state; empty when the conservative part has no energy.
  virtual std::optional<double> energy(ConstMatrixRef<S> /*z*/) { return std::nullopt; }

  /// The contrastive rule (Scellier & Bengio 2017): adds −Σ_k scales[k] ∂E/∂θ(z_k), z_k the k-th of as many states (rows, cols) side
  /// by side in z, for every parameter of the conservative part to the sink. false: it has no such rule, or the force is not wholly
  /// conservative.
  virtual bool accumulate_energy_gradient(ConstMatrixRef<S> /*z*/, std::span<const S> /*scales*/,
                                          GradientSink<S>& /*sink*/) {
    return false;
  }
  bool accumulate_energy_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) {
    return accumulate_energy_gradient(z, std::span<const S>(&scale, 1), sink);
  }

  /// What the force evaluations that follow are for. linearize() and accumulate_parameter_gradient() are of the classes
  /// stored and correlation whatever was said here.
  virtual void begin_reads(ReadClass /*kind*/) {}

  /// Time of the reads of the relaxation that follows. White read noise of strength σ per √τ has the standard deviation
  /// σ/√interval per evaluation.
  virtual void set_read_timing(ReadTiming /*timing*/) {}

  /// L of the linear part −L z of F that every element of z has, in 1/τ: what solvers follow exactly, noise included
  /// (sim/read_timing.hpp). 0: none known.
  virtual double leak() const { return 0; }

  /// Whether any of its reads has fresh noise: two evaluations at one z may then differ.
  virtual bool noisy() const { return false; }

  /// From now on jvp(), vjp() and accumulate_parameter_gradient() are derivatives of the noise-free force at the point,
  /// computed exactly instead of read from the circuit: what references and backprop use.
  virtual void use_exact_derivatives(bool /*exact*/) {}
};

}  // namespace nudge
