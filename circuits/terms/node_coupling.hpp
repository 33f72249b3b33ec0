// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/term.hpp"

namespace nudge {

/// One node drives another of the same width one to one through a resistor or amplifier without weights: F_target += g z_source.
/// Not conservative: nothing comes back.
template <class S>
class NodeCoupling final : public Term<S> {
 public:
  NodeCoupling(int source, Columns from, int target, Columns to, S gain);

  TermTraits traits() const override {
    return {.name = "node_coupling", .nonconservative = true, .sources = {source_}, .targets = {target_}};
  }
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;

  int source_, target_;
  Columns from_, to_;
  S gain_;
};

}  // namespace nudge
