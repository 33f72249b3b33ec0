// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "netlist/netlist.hpp"

namespace nudge {

/// Netlist over time in which every switch is a resistor, 1/RON or 1/ROFF, that its state sets: Netlist::switches has the switches, and the
/// states at the beginning. The elements keep their numbers. A current that controls a switch must be a voltage (with_branch_states).
Netlist with_switch_states(Netlist netlist);

/// States of the switches of such a netlist. The netlist must outlive this object.
class SwitchStates {
 public:
  explicit SwitchStates(const Netlist& netlist);

  std::size_t size() const { return switches_->size(); }
  /// Sets the conductances of the switches (NodalEquations::values).
  void set(std::vector<double>& values) const;
  /// Voltage by which a control is beyond the threshold where its switch opens, or closes if it is open.
  double beyond(std::size_t k, const double* v) const;
  bool closed(std::size_t k) const { return closed_[k] != 0; }
  /// Turns a switch whose control has reached its threshold.
  void turn(std::size_t k);
  /// Turns all switches whose controls are beyond their thresholds; one that was turned just now only by a clear distance. True if any turned.
  bool follow(const double* v);
  /// Forgets which were turned just now.
  void rest();

 private:
  const std::vector<TimedSwitch>* switches_;
  std::vector<char> closed_, fresh_;
};

}  // namespace nudge
