// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/node_activation.hpp"
#include "circuits/terms/term.hpp"

namespace nudge {

/// Skip connection between two nodes of equal width a and b, without weights (residual networks that settle: Hopfield-ResNet,
/// arXiv:2509.26003):
///     E = −ρ(s_a) · ρ(s_b),     F_b += ρ'(s_b) ⊙ ρ(s_a),   F_a += ρ'(s_a) ⊙ ρ(s_b)
/// Forward alone it acts onto b only, and has no energy.
template <class S>
class SkipLink final : public Term<S> {
 public:
  /// Makes a link between two ends with as many columns each (contract).
  SkipLink(const LinkEnd& from, const LinkEnd& to, bool forward_only);

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  bool has(Part part) const { return part == Part::all || (part == Part::conservative) == !forward_only_; }

  LinkEnd from_, to_;
  bool forward_only_;
};

}  // namespace nudge
