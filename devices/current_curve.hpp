// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace nudge {

/// Current–voltage curve of a device of small-signal conductance G:
///     I(V) = G (V₀ sinh(V/V₀) + c V³),   V₀ = 0: no sinh, I = G (V + c V³)
/// sinh is the form of hopping and tunnelling conduction with the characteristic voltage V₀; the cubic term the first odd
/// correction to Ohm's law. Both are odd and, for c ≥ 0, increasing: the network has one solution.
/// It changes no conductance and no pulse: only what a read at a finite voltage gives (circuits/).
struct CurrentCurve {
  double sinh_V = 0;        ///< V₀, ≥ 0
  double cubic_per_V2 = 0;  ///< c, ≥ 0

  bool linear() const { return sinh_V == 0 && cubic_per_V2 == 0; }
  /// I/G in volts
  double current(double v) const {
    return (sinh_V > 0 ? sinh_V * std::sinh(v / sinh_V) : v) + cubic_per_V2 * v * v * v;
  }
  /// dI/dV over G
  double slope(double v) const { return (sinh_V > 0 ? std::cosh(v / sinh_V) : 1.0) + 3 * cubic_per_V2 * v * v; }
};

}  // namespace nudge
