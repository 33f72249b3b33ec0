// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "netlist/parameter_scope.hpp"

namespace nudge {

/// Branches of .if, .elseif and .else among the cards of one level, as these are read one after the other.
class Branches {
 public:
  explicit Branches(ParameterScope& scope) : scope_(&scope) {}

  /// True if the card is one of the circuit: of no branch, or of one whose condition holds. UserError for an .else without .if.
  bool take(const Card& card);
  /// UserError where an .endif is missing.
  void finish() const;

 private:
  struct Branch {
    bool active, done;  ///< done: none of the other branches is taken
    Place place;
  };
  bool active() const { return open_.empty() || open_.back().active; }
  bool condition(const Card& card);

  ParameterScope* scope_;
  std::vector<Branch> open_;
};

}  // namespace nudge
