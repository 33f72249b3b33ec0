// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "sim/layered.hpp"

namespace nudge {

/// The optional power of a Dynamics (Powers::bath) whose nodes are in contact with a bath of temperature T: how a node moves there, so
/// that states are drawn from P(z) ∝ exp(−E(z)/T). The units of one node must not act on each other. Its force is that without the bath.
template <class S>
class Bath {
 public:
  virtual ~Bath() = default;

  /// One step of the columns of a node, which f pushes: of real units z ← z + ε f + √(T ε (2 − ε L)) ξ, L their leak and what is `added` to
  /// it of every copy side by side (none: 0): Euler–Maruyama's
  /// but for the noise, which leaves P(z_node | the others) as it is where that is Gaussian, whatever ε below 2/L is; of binary ones a
  /// 0 or 1 with P(1) = 1/(1 + exp(−f/T)), f being the energy that 1 is lower by. Another draw every time.
  virtual void move(MatrixRef<S> z, ConstMatrixRef<S> f, std::size_t node, S step, std::span<const S> added) = 0;

  /// Whether the units of a node are binary.
  virtual bool binary(std::size_t node) const = 0;
};

/// A step of all nodes, one after the other. push(f, node) changes what pushes a node, in its columns of f (as z, working memory), and
/// returns what that adds to its leak in every copy.
template <class S, class Push>
void bath_sweep(Layered<S>& layered, Bath<S>& bath, MatrixRef<S> z, MatrixRef<S> f, S step, Push push) {
  for (std::size_t node = 0; node < layered.nodes(); ++node) {
    layered.node_force(z, f, node);
    bath.move(z, f, node, step, push(f, node));
  }
}

}  // namespace nudge
