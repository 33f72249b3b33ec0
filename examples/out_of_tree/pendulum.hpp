// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/term.hpp"

namespace mine {

/// A force term of one's own: units that hang as pendulums,
///     F(z) = −κ sin z,   E(z) = κ Σ (1 − cos z),   J = −κ diag(cos z),
/// of all units of some nodes. No weights.
template <class S>
class PendulumForce final : public nudge::Term<S> {
 public:
  PendulumForce(double weight, std::vector<int> nodes);

  nudge::TermTraits traits() const override;
  std::unique_ptr<nudge::TermSystem<S>> make_system(nudge::Index rows, nudge::Index max_copies) const override;

 private:
  class System;
  S weight_;
  std::vector<int> nodes_;
};

}  // namespace mine
