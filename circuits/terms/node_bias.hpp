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

  std::string_view name() const override { return "node_bias"; }
  bool has(Part part) const override { return part == Part::all || part == part_; }
  /// Under the identity it is a constant current, whatever the node's state.
  std::vector<int> sources() const override {
    return {at_.activation == NodeActivation::identity ? Term<S>::kInput : at_.node};
  }
  std::vector<int> targets() const override { return {at_.node}; }
  /// Of the identity: its force is the same in every state.
  bool takes_difference() const override {
    return part_ != Part::conservative || at_.activation == NodeActivation::identity;
  }
  bool add_load(Matrix<S>& /*load*/) const override { return at_.activation == NodeActivation::identity; }
  bool noisy() const override { return map_->noisy(); }
  bool constant() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;

  LinkEnd at_;
  int parameter_;
  const LinearMap<S>* map_;
  Part part_;
};

}  // namespace nudge
