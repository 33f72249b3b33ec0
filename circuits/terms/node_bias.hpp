// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/node_activation.hpp"
#include "circuits/terms/term.hpp"

namespace nudge {

/// A bias of a node: E = −b ρ(s)ᵀ, F += ρ'(s) ⊙ b, one b per unit or, of a convolutional layer, one per map (every position of
/// it). The map is (1, maps), driven by a constant 1.
template <class S>
class NodeBias final : public Term<S> {
 public:
  /// The node's width is a multiple of the map's. `part`: which part of the force it counts as: nonconservative in a network
  /// that is to be driven wholly through its transpose while nudged.
  NodeBias(const LinkEnd& at, int parameter, const LinearMap<S>& map, Part part = Part::conservative);

  /// Under the identity it is a constant current, whatever the node's state.
  TermTraits traits() const override;
  bool add_load(MatrixRef<S> /*load*/) const override { return identity(); }
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  bool has(Part part) const { return part == Part::all || part == part_; }
  bool identity() const { return at_.activation == NodeActivation::identity; }

  LinkEnd at_;
  int parameter_;
  const LinearMap<S>* map_;
  Part part_;
};

}  // namespace nudge
