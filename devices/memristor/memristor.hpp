// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace nudge {

/// A memristor with one state x in [0, 1]: i = i(x, v), dx/dt = f(x, v).
class Memristor {
 public:
  virtual ~Memristor() = default;
  /// dx/dt in 1/s at state x under `volts`.
  virtual double rate(double x, double volts) const = 0;
  /// Amperes at state x under `volts`.
  virtual double current(double x, double volts) const = 0;
};

/// A memristor driven by a voltage: rows of equal length.
struct MemristorTrace {
  std::vector<double> time_s, volts, state, current_A;
};

/// Follows dx/dt = f(x, v(t)) from x0 for `duration_s` by sim/ode (adaptive Dormand–Prince, local error `error`), keeping
/// samples + 1 equally spaced points. The state is kept in [0, 1]. NumericalFailure when the integration fails.
MemristorTrace drive(const Memristor& memristor, double x0, const std::function<double(double)>& volts,
                     double duration_s, int samples, double error = 1e-9);

/// The motion of a memristor under one constant voltage as a table: T(place), the time to come to a place from the end
/// behind, T = ∫ dplace/speed. Because the motion depends on the state alone, any pulse is a look-up there and back:
/// place(t) = T⁻¹(T(place₀) + t), and two pulses are exactly their sum.
///
/// Speeds usually vanish at the bound ahead, like d^p with d = 1 − place, and a conductance that is hyperbolic in the
/// state still changes there by up to on/off · d: so the points are 1/cells apart up to place 7/8, then equally spaced in
/// ln d by 8/cells down to d = 1e-9, and between points T is linear in place or in ln d (exact for p = 1). The last 1e-9 is
/// crossed at the speed of its beginning: the bound is reached, too early or too late by less than 1e-9 of the window of
/// the state.
class ConstantVoltageMotion {
 public:
  /// `volts` must move x one way: upwards for `up`, else downwards. A place where the speed is 0 is not passed. UserError
  /// naming the voltage when nothing moves.
  ConstantVoltageMotion(const Memristor& memristor, double volts, bool up);
  /// Whether `volts` moves x that way anywhere.
  static bool moves(const Memristor& memristor, double volts, bool up);

  /// Distance moved along the direction within `seconds` from `place`: 0 at the end behind, 1 at the end ahead. NaN
  /// where either is.
  double advance(double place, double seconds) const;

  /// Seconds from place 0 to the last place that can be reached, and that place: 1 unless the speed is 0 on the way.
  double whole_s() const { return time_s_.back(); }
  double reach() const { return place_of(static_cast<double>(time_s_.size() - 1)); }

  /// Points per unit of the state far from the bound ahead: with a speed that changes by a factor exp(k h) within a cell
  /// of width h one pulse is off by at most k h/2 of itself, and the way of many by k h²/8.
  static constexpr int cells = 4096;

 private:
  /// The place as a coordinate in which the points are 0, 1, 2, ..., and back.
  static double coordinate(double place);
  static double place_of(double coordinate);

  std::vector<double> time_s_;  ///< T at each point
};

}  // namespace nudge
