// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>

namespace nudge {

/// Current–voltage curve of a device of small-signal conductance G:
///     I(V) = G (V₀ sinh(V/V₀) + c V³),   V₀ = 0: no sinh, I = G (V + c V³)
/// sinh is the form of hopping and tunnelling conduction with the characteristic voltage V₀; the cubic term is the first odd
/// correction to Ohm's law. Both are odd and, for c ≥ 0, increasing: the network has one solution. The curve changes no
/// conductance and no pulse, only the result of a read at a finite voltage (circuits/).
struct CurrentCurve {
  double sinh_V = 0;        ///< V₀, ≥ 0
  double cubic_per_V2 = 0;  ///< c, ≥ 0

  bool linear() const { return sinh_V == 0 && cubic_per_V2 == 0; }
  /// I/G in volts.
  double current(double v) const {
    return (sinh_V > 0 ? sinh_V * std::sinh(v / sinh_V) : v) + cubic_per_V2 * v * v * v;
  }
  /// Slope dI/dV over G.
  double slope(double v) const { return (sinh_V > 0 ? std::cosh(v / sinh_V) : 1.0) + 3 * cubic_per_V2 * v * v; }
};

/// Element in series with a device in its cell.
enum class SelectorKind {
  none,
  transistor,   ///< 1T1R: a resistance where the gate is on; cells of other rows are cut off
  exponential,  ///< 1S1R: I = I₀ sinh(V/V₀)
  threshold,    ///< 1S1R: insulates below a voltage across the cell, a resistance above
};

struct SelectorSpec {
  SelectorKind kind = SelectorKind::none;
  double on_ohm = 1e4;      ///< resistance R of transistor and conducting threshold
  double voltage_V = 0.1;   ///< exponential: V₀; threshold: voltage of switching
  double current_A = 1e-9;  ///< exponential: I₀

  bool any() const { return kind != SelectorKind::none; }

  /// Voltage across a device in its cell when the cell is at `volts`; i(v) is the device's current (odd sign, increasing). Solves
  /// i(v) = i_selector(volts − v) by bisection and Newton to the last bits; exact for a resistance in series where i is straight.
  double device_volts(double volts, const std::function<double(double)>& current) const;

  /// Conductance (current over voltage) of a cell whose device has the conductance g, at `volts` across the cell: g/(1 + g R)
  /// behind a resistance.
  double cell_S(double g, double volts) const;
  /// Current of a cell whose device has the conductance g, and its slope over the voltage.
  double cell_current(double g, double volts) const;
  double cell_slope(double g, double volts) const;
  /// Device conductance g for which cell_S(g, volts) = cell; +infinity where no device conducts so well.
  double device_S(double cell, double volts) const;
  /// Derivative d cell_S/d g.
  double cell_sensitivity(double g, double volts) const;

 private:
  /// Voltage across an exponential selector that carries `amps`.
  double selector_volts(double amps) const;
};

/// Name of a selector: "none", "transistor", "exponential", "threshold".
const char* selector_name(SelectorKind kind);

}  // namespace nudge
