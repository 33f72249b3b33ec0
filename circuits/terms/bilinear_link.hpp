// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/link_reader.hpp"
#include "circuits/terms/node_activation.hpp"
#include "circuits/terms/term.hpp"

namespace nudge {

/// Which ways a link acts.
enum class LinkWay {
  both,      ///< reciprocal, conservative: read forward onto `to` and transposed onto `from`
  forward,   ///< onto `to` only; not conservative
  backward,  ///< onto `from` only, by transposed reads; not conservative
};

/// A link between two nodes of a layered Hopfield network, one row per sample (Scellier & Bengio 2017, arXiv:1602.05179):
///     E = −r_a M r_bᵀ,   r = ρ(s)
///     F_b += ρ'(s_b) ⊙ (r_a M),   F_a += ρ'(s_a) ⊙ (r_b Mᵀ)
/// M is the matrix of its weights, dense or of a convolution with pooling (circuits/terms/convolution.hpp), one map read both
/// ways. `from` may be what clamps the circuit, r_a = ρ(x): then only `to` moves and the link is conservative too, whatever it
/// hears back. Numbers that hold the weights of a clamped link are read once per example: its product does not change, and under the
/// identity neither does its force.
///
/// An array that is driven at both ends at once (MapTraits::residue) gives each node a part of its own drive back, in energy
/// E += ½ Σ δ_b r_b² + ½ Σ δ_a r_a²; its heat is that of the currents G (r_a − r_b).
template <class S>
class BilinearLink final : public Term<S> {
 public:
  /// From kInput the way is both, or forward for a link of a network whose other links are not conservative.
  BilinearLink(const LinkEnd& from, const LinkEnd& to, const LinkWeights<S>& weights, LinkWay way = LinkWay::both);

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

  const LinkWeights<S>& weights() const { return weights_; }

 private:
  class System;
  bool has(Part part) const { return part == Part::all || (part == Part::conservative) == (way_ == LinkWay::both); }
  /// Numbers hold the weights of what is clamped: its product is the same in every read of an example.
  bool cached() const;
  /// Its reads are the force themselves.
  bool assigns() const {
    return !clamped() && residue() == nullptr && (!drives_to() || to_.activation == NodeActivation::identity) &&
           (!drives_from() || from_.activation == NodeActivation::identity);
  }
  bool clamped() const { return from_.node == Term<S>::kInput; }
  bool drives_to() const { return way_ != LinkWay::backward; }
  bool drives_from() const { return way_ != LinkWay::forward && !clamped(); }
  /// Where the link drives both ends of its array.
  const WeightSums<S>* residue() const {
    return drives_to() && drives_from() ? weights_.map->traits().residue : nullptr;
  }

  LinkEnd from_, to_;
  LinkWeights<S> weights_;
  LinkWay way_;
};

}  // namespace nudge
