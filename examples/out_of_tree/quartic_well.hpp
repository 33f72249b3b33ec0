// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/term.hpp"

namespace mine {

/// A force term of one's own: units that a cubic spring holds,
///     F(z) = −κ z³,   E(z) = κ/4 Σ z⁴,   J = −3 κ diag(z²),
/// of all units of some nodes. No weights.
template <class S>
class QuarticWell final : public nudge::Term<S> {
 public:
  QuarticWell(double stiffness, std::vector<int> nodes);

  nudge::TermTraits traits() const override;
  std::unique_ptr<nudge::TermSystem<S>> make_system(nudge::Index rows, nudge::Index max_copies) const override;

 private:
  class System;
  S stiffness_;
  std::vector<int> nodes_;
};

}  // namespace mine
