// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/terms/term.hpp"
#include "python/src/own_system.hpp"

namespace nudge::python {

/// F(z) + L z of a Python system, L the leak of the nodes, which the circuit takes off: the force of network.kind = own.
/// What the system sees of its parameters are reads, each element by itself (a drive of 1 on its line alone): of numbers what they are; of
/// devices with their fresh noise for every force and every product of every row of the state, as the class of the read asks for it. A row that
/// uses a weight twice in one force sees one read of it, where two passes through an array of the program are two reads.
template <class S>
class OwnTerm final : public Term<S> {
 public:
  OwnTerm(std::shared_ptr<const OwnSystem> system, std::vector<const LinearMap<S>*> maps, int nodes)
      : system_(std::move(system)), maps_(std::move(maps)), nodes_(nodes) {}

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  std::shared_ptr<const OwnSystem> system_;
  std::vector<const LinearMap<S>*> maps_;
  int nodes_;
};

}  // namespace nudge::python
