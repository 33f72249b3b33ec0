// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "devices/device_spec.hpp"

namespace nudge {

/// A memristor with one state x in [0, 1]: i = i(x, v), dx/dt = f(x, v).
class Memristor {
 public:
  virtual ~Memristor() = default;
  /// Speed dx/dt in 1/s at state x under `volts`.
  virtual double rate(double x, double volts) const = 0;
  /// Current in amperes at state x under `volts`.
  virtual double current(double x, double volts) const = 0;
};

/// Trace of a memristor driven by a voltage: rows of equal length.
struct MemristorTrace {
  std::vector<double> time_s, volts, state, current_A;
};

/// Follows dx/dt = f(x, v(t)) from x0 for `duration_s` by sim/ode (adaptive Dormand–Prince, local error `error`), keeping
/// samples + 1 equally spaced points. The state is kept in [0, 1]. NumericalFailure when the integration fails.
MemristorTrace drive(const Memristor& memristor, double x0, const std::function<double(double)>& volts,
                     double duration_s, int samples, double error = 1e-9);

/// The motion of a memristor under one constant voltage as a table. T(place) = ∫ dplace/speed is the time to come to a
/// place from the end behind. Because the motion depends on the state alone, any pulse is a look-up there and back:
/// place(t) = T⁻¹(T(place₀) + t), and two pulses are exactly their sum.
///
/// Speeds usually vanish at the bound ahead, like d^p with d = 1 − place. A conductance that is hyperbolic in the state
/// still changes there by up to on/off · d. So the points are 1/cells apart up to place 7/8, then equally spaced in ln d by
/// 8/cells down to d = 1e-9. Between points T is linear in place or in ln d (exact for p = 1). The last 1e-9 is crossed at
/// the speed of its beginning. The bound is then reached too early or too late by less than 1e-9 of the window of the
/// state.
class ConstantVoltageMotion {
 public:
  /// Tabulates the motion under `volts`, which must move x one way: upwards for `up`, else downwards. A place where the speed
  /// is 0 is not passed. UserError naming the voltage when nothing moves.
  ConstantVoltageMotion(const Memristor& memristor, double volts, bool up);
  /// True if `volts` moves x upwards (`up`) or downwards (else) anywhere.
  static bool moves(const Memristor& memristor, double volts, bool up);

  /// Distance moved along the direction within `seconds` from `place`: 0 at the end behind, 1 at the end ahead. NaN
  /// where either is.
  double advance(double place, double seconds) const;

  /// Seconds from place 0 to the last place that can be reached, and that last place: 1 unless the speed is 0 on the way.
  double whole_s() const { return time_s_.back(); }
  double reach() const { return place_of(static_cast<double>(time_s_.size() - 1)); }

  /// Points per unit of the state far from the bound ahead. The error is for a speed that changes by a factor exp(k h)
  /// within a cell of width h. One pulse is then off by at most k h/2 of itself, and the sum of many by k h²/8.
  static constexpr int cells = 4096;

 private:
  /// Coordinate of a place, in which the points are 0, 1, 2, ..., and the place of a coordinate.
  static double coordinate(double place);
  static double place_of(double coordinate);

  std::vector<double> time_s_;  ///< T at each point
};

/// VTEAM memristor model; equations in devices/models/vteam.cpp.
struct Vteam final : Memristor {
  double threshold_up_V = 0, threshold_down_V = 0;
  double k_up_Hz = 0, k_down_Hz = 0;
  double alpha_up = 0, alpha_down = 0;
  double window = 0;
  double r_on_ohm = 0, r_off_ohm = 0;

  double rate(double x, double volts) const override;
  double current(double x, double volts) const override;
};

/// Yakopcic memristor model; equations in devices/models/yakopcic.cpp.
struct Yakopcic final : Memristor {
  double a1_A = 0, a2_A = 0, b = 0;
  double threshold_up_V = 0, threshold_down_V = 0;
  double A_up = 0, A_down = 0;
  double x_up = 0, x_down = 0;
  double alpha_up = 0, alpha_down = 0;

  double rate(double x, double volts) const override;
  double current(double x, double volts) const override;
};

Vteam vteam_of(const DeviceSpec& spec);
Yakopcic yakopcic_of(const DeviceSpec& spec);

/// A memristor given by numbers: rate and current at ascending voltages (rows) and at equally spaced states from 0 to 1 (columns). Both are
/// linear between states. Between voltages the current is linear, and so is the rate where it is 0 or changes sign. Elsewhere the logarithm
/// of the rate is linear: speeds grow exponentially with the voltage. Beyond the voltages both are constant.
struct TableMemristor final : Memristor {
  std::vector<double> volts;
  std::vector<double> rate_Hz, current_A;  ///< row by row: volts.size() rows of `states`
  std::size_t states = 0;

  double rate(double x, double v) const override;
  double current(double x, double v) const override;
};

/// Table of a circuit model with one state, evaluated at voltages and states (both ascending, states in the model's own
/// unit). It holds, row by row, dstate/dt in this unit per second and the current in A.
struct StateTable {
  std::vector<double> volts, states;
  std::vector<double> rate, current_A;
};

/// States between the same ends at which the conductance at `read_V` is about equally spaced, as far as the table tells. Where
/// the conductance bends, a table that is evaluated at these states is finer. The conductance must rise or fall all the way.
std::vector<double> even_states(const StateTable& table, double read_V);

/// Device (model memristor_table) that behaves as the table says, on `points` equally spaced u = (g − g_min)/(g_max − g_min).
/// g is the current over the voltage `read_V`. u replaces the state, so the conductance is linear in it. UserError where g is
/// not monotonic in the state, has no window, or a number is not finite.
DeviceSpec tabulated_device(const StateTable& table, double read_V, int points = 65);

}  // namespace nudge
