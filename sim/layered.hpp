// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "sim/base/matrix.hpp"
#include "sim/box.hpp"
#include "sim/gradient_sink.hpp"

namespace nudge {

/// Squared norms of a node's columns after a step of a sweep: the norm of its state and of the force that moved it.
struct NodeMove {
  double state = 0, force = 0;
};

/// Optional capability of a Dynamics (Capabilities::layered) whose state consists of nodes, ranges of columns that can be visited one
/// after the other. Sweeps and coordinate descent need it. z and f as in Dynamics::force(), k copies side by side.
template <class S>
class Layered {
 public:
  virtual ~Layered() = default;

  /// Columns of every node, in the order in which the nodes drive each other.
  virtual std::span<const Columns> node_columns() const = 0;
  std::size_t nodes() const { return node_columns().size(); }
  Columns node_columns(std::size_t node) const { return node_columns()[node]; }

  /// Writes F(z) of one node into its columns of f; the other columns are left undefined.
  virtual void node_force(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t node) = 0;

  /// Takes a sweep's step in one node: z_j ← P(z_j + ε m ⊙ F_j(z)), P projects onto the system's box, and m masks the units that it
  /// lets move. f (as z) is working memory. It is virtual because a system can do it in one pass (bench/hopfield_epoch).
  virtual NodeMove node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) = 0;

  /// Writes (Jᵀ u) of one node at the last linearised point into its columns of out; the other columns are left undefined.
  virtual void node_vjp(ConstMatrixRef<S> u, MatrixRef<S> out, std::size_t node) = 0;

  /// Pulls u back through one node of a feed-forward system, at the last linearised point; u of the node must be final. Adds
  /// (∂F_node/∂z)ᵀ u_node, its leak excluded, to the columns of u of the earlier nodes, and scale · ⟨u_node, ∂F_node/∂θ⟩ to
  /// the sink. Returns false, and leaves u as it is, if the system cannot do both at once.
  virtual bool node_pullback(MatrixRef<S> /*u*/, S /*scale*/, GradientSink<S>& /*sink*/, std::size_t /*node*/) {
    return false;
  }

  /// D (1, cols), minus the diagonal of the Jacobian. The system's D_i = −∂F_i/∂z_i is the same in every state, but for laws of
  /// single units. The units of one node must not act on each other. For fixed other nodes solve_node() then finds F_i = 0
  /// (sim/steady/coordinate.cpp). The default is null: not such a system.
  virtual const Matrix<S>* loads() { return nullptr; }

  /// Solves F_i = 0 for the units of one node while the others stand still; only for a system with loads. f is the force at z.
  /// inverse (1, cols) holds 1/D, and 0 for units without a load, which stay. The step is z_i ← z_i + f_i/D_i. Where a law of a
  /// unit's own bends its force (a diode), z_i becomes the root x of f_i − D_i (x − z_i) + law(x) − law(z_i).
  virtual void solve_node(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) {
    z.middleCols(columns.begin, columns.count).array() += f.middleCols(columns.begin, columns.count).array().rowwise() *
                                                          inverse.row(0).segment(columns.begin, columns.count).array();
  }
};

/// Default node_step(): computes the force of the node, then takes the step.
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
