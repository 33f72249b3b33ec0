// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nudge {

/// The largest leak L of a node, known before there is a task, the stiffest part that is always there: constant + per_damping · c at
/// the damping c. 0: its units are loaded by their terms alone (Circuit::largest_load).
struct NodeLeak {
  double constant = 1;
  double per_damping = 0;
  double at(double damping) const { return constant + per_damping * damping; }
};

}  // namespace nudge
