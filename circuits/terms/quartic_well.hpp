// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/term.hpp"

namespace nudge {

/// What bends the units of some nodes, which are all of the circuit: E = ¼ κ Σ s⁴, F = −κ s³. Beside a leak L it is a unit of
/// thermodynamic computing, ½ L s² + ¼ κ s⁴ (Whitelam & Casert, arXiv:2412.17183); no weights.
template <class S>
class QuarticWell final : public Term<S> {
 public:
  QuarticWell(double stiffness, std::vector<int> nodes) : stiffness_(static_cast<S>(stiffness)), nodes_(nodes) {}

  TermTraits traits() const override {
    return {
        .name = "quartic_well", .conservative = true, .sources = nodes_, .targets = nodes_, .takes_difference = false};
  }
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  S stiffness_;
  std::vector<int> nodes_;
};

}  // namespace nudge
