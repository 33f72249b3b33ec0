// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// Law of a resistor whose current does not follow Ohm's law: I(g, v) of its conductance g, odd and increasing in v, 0 at v = 0. A memristor with a
/// curve or a selector has one. The program that has devices makes it (MemristorSource).
class ConductorLaw {
 public:
  virtual ~ConductorLaw() = default;

  /// Current in A at the voltage v, and its derivatives ∂I/∂v in S and ∂I/∂g in V.
  struct Point {
    double current, by_volts, by_siemens;
  };
  virtual Point at(double siemens, double volts) const = 0;

  /// Energy E = ∫₀ᵛ I dv in W, and ∂E/∂g in V².
  struct Energy {
    double watts, by_siemens;
  };
  virtual Energy energy(double siemens, double volts) const = 0;

  /// Voltage to which a Newton step from `last` to `next` is limited.
  virtual double limited(double next, double last) const = 0;

  /// Cards of SPICE between two nodes, named after the element.
  virtual std::string cards(const std::string& name, const std::string& plus, const std::string& minus,
                            double siemens) const = 0;
};

}  // namespace nudge
