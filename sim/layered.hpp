// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "sim/base/matrix.hpp"
#include "sim/box.hpp"
#include "sim/gradient_sink.hpp"

namespace nudge {

/// Squared norms of a node's columns after a step of a sweep: of its state, and of the force that moved it.
struct NodeMove {
  double state = 0, force = 0;
};

/// The optional power of a Dynamics (Dynamics::layered) whose state is nodes, ranges of columns that can be visited one after the
/// other: what sweeps and coordinate descent need. z and f as in Dynamics::force(), k copies side by side.
template <class S>
class Layered {
 public:
  virtual ~Layered() = default;

  /// The columns of every node, in the order in which they drive each other.
  virtual std::span<const Columns> node_columns() const = 0;
  std::size_t nodes() const { return node_columns().size(); }
  Columns node_columns(std::size_t node) const { return node_columns()[node]; }

  /// F(z) of one node into its columns of f; the others are left undefined.
  virtual void node_force(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t node) = 0;

  /// A step of a sweep in one node: z_j ← P(z_j + ε m ⊙ F_j(z)), P the projection onto the system's box and m of what it lets
  /// move. f (as z) is working memory. A virtual because a system can do it in one pass (bench/hopfield_epoch).
  virtual NodeMove node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) = 0;

  /// (Jᵀ u) of one node at the last linearised point into its columns of out, the others undefined.
  virtual void node_vjp(ConstMatrixRef<S> u, MatrixRef<S> out, std::size_t node) = 0;

  /// Of a feed-forward system at the last linearised point, both at once of what acts on a node, u being there final: adds
  /// (∂F_node/∂z)ᵀ u_node, its leak excluded, to the columns of u of the earlier nodes, and scale · ⟨u_node, ∂F_node/∂θ⟩ to the
  /// sink. false: u is not touched.
  virtual bool pull_node(MatrixRef<S> /*u*/, S /*scale*/, GradientSink<S>& /*sink*/, std::size_t /*node*/) {
    return false;
  }

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
};

/// node_step() as it is defined.
template <class S>
NodeMove step_of_node(Layered<S>& layered, const Box<S>* box, MatrixRef<S> z, MatrixRef<S> f, std::size_t node,
                      S epsilon) {
  const Columns columns = layered.node_columns(node);
  layered.node_force(z, f, node);
  auto state = z.middleCols(columns.begin, columns.count);
  const auto force = f.middleCols(columns.begin, columns.count);
  if (box != nullptr) {
    box->step(z, f, epsilon, columns);
  } else {
    state += epsilon * force;
  }
  return {squared_norm<S>(state), squared_norm<S>(force)};
}

}  // namespace nudge
