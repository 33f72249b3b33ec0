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

/// The motion of a memristor under one constant voltage as a table: T(x), the time to come to x from the far end, at
/// equally spaced x, integrated by sim/ode. Because the motion depends on x alone, any pulse is a look-up there and back:
/// x(t) = T⁻¹(T(x0) + t). Between points T is linear, so that two pulses are exactly their sum.
class ConstantVoltageMotion {
 public:
  /// `volts` must move x one way: upwards for `up`, else downwards. Places where the rate is below 1e-9 of the fastest are
  /// out of reach. UserError naming the voltage when nothing moves.
  ConstantVoltageMotion(const Memristor& memristor, double volts, bool up);

  /// Distance moved along the direction within `seconds` from `place`: 0 at the end behind, 1 at the end ahead. NaN
  /// where either is.
  double advance(double place, double seconds) const;

  /// Seconds from place 0 to the last place that can be reached, and that place.
  double whole_s() const { return time_s_.back(); }
  double reach() const { return static_cast<double>(time_s_.size() - 1) / cells; }

  /// Intervals of the table: with a rate that changes k-fold across the window the error of a pulse is of order
  /// (k/cells)²/8 of the window.
  static constexpr int cells = 4096;

 private:
  std::vector<double> time_s_;
};

}  // namespace nudge
