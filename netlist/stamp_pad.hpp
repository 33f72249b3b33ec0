// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "netlist/nodal_equations.hpp"

namespace nudge {

/// Residual and Jacobian at one state, to which currents and slopes are added in the order of entries_of().
class NodalEquations::StampPad {
 public:
  StampPad(const NodalEquations& owner, const std::vector<double>& x, JunctionState* state,
           std::vector<double>& residual, std::vector<double>& jacobian)
      : owner_(&owner), x_(&x), state_(state), residual_(&residual), jacobian_(&jacobian) {}

  double at(int unknown) const { return unknown < 0 ? 0 : (*x_)[static_cast<std::size_t>(unknown)]; }
  void begin(std::size_t first_entry, int element) {
    slot_ = owner_->slots_.data() + first_entry;
    element_ = element;
  }
  void slope(double value) { (*jacobian_)[static_cast<std::size_t>(*slot_++)] += value; }
  void current(int unknown, double value) {
    if (unknown >= 0) (*residual_)[static_cast<std::size_t>(unknown)] += value;
  }

  /// Adds a current i from a to b with the slope g.
  void branch(int a, int b, double i, double g) {
    current(a, i);
    current(b, -i);
    for (const double sign : {1.0, -1.0, -1.0, 1.0}) slope(sign * g);
  }

  /// Voltage at which an element is linearised, `wanted` instead of `volts` of x; it is remembered.
  double linearised(double volts, double wanted) {
    if (state_ == nullptr) return volts;
    const double back = std::abs(volts - wanted);
    if (back > kHeldBack_V * std::max(1.0, std::abs(volts))) {
      if (!state_->limited || back > most_) state_->worst = element_;
      most_ = std::max(most_, back);
      state_->limited = true;
    }
    state_->volts[junction_++] = wanted;
    return wanted;
  }
  double last() const { return state_ == nullptr ? 0 : state_->volts[junction_]; }

 protected:
  /// Largest change of a gate's or drain's voltage in a step: chosen, a fraction of usual supplies.
  static constexpr double kGateStep_V = 1.0;
  /// Limit on the holding back of a junction that has arrived.
  static constexpr double kHeldBack_V = 1e-9;
  /// Slope of a curve beyond all conductances of circuits, at which its current is a sign of numbers that do not fit.
  static constexpr double kSteepest_S = 1e12;

  double volts(const Element& e, std::size_t i) const { return at(e.nodes[i]) - at(e.nodes[i + 1]); }
  double controlling(const Element& e) const { return at(owner_->branch_[static_cast<std::size_t>(e.control)]); }
  void through(const Element& e, double amperes) {
    current(e.nodes[0], amperes);
    current(e.nodes[1], -amperes);
  }

  double near(double volts) {
    if (state_ == nullptr) return volts;
    return linearised(volts, std::clamp(volts, last() - kGateStep_V, last() + kGateStep_V));
  }

  /// False for numbers of no circuit, whose products overflow in the factors of the equations.
  static bool bounded(double number) { return std::abs(number) < 1e100; }

  /// Notes an element whose current is not bounded, on the way to a solution.
  void held_back_without_bound() {
    state_->limited = true;
    state_->finite = false;
    state_->worst = element_;
  }

  const NodalEquations* owner_;
  const std::vector<double>* x_;
  JunctionState* state_;
  std::vector<double>* residual_;
  std::vector<double>* jacobian_;
  const int* slot_ = nullptr;
  int element_ = -1;
  std::size_t junction_ = 0;
  double most_ = 0;
};

}  // namespace nudge
