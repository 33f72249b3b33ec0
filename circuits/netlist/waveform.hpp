// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge {

/// What an independent source does over time, as SPICE writes it (ngspice manual, "Independent sources"); t, TD, … in s, values in V or A:
///     PULSE(V1 V2 TD TR TF PW [PER])   V1 until TD, V2 in TR, for PW, V1 in TF; again after PER
///     SIN(VO VA [FREQ TD THETA PHASE]) VO + VA sin(2π FREQ (t − TD) + PHASE°) exp(−THETA (t − TD)) from TD on
///     EXP(V1 V2 TD1 TAU1 TD2 TAU2)     towards V2 from TD1 on, back towards V1 from TD2 on
///     PWL(T1 V1 T2 V2 …)               straight lines, constant before and behind
/// Values that SPICE takes from the step or the end of an analysis (FREQ, TR, TF, TAU, PW) are as good as missing: missing() names them.
struct Waveform {
  enum class Kind { none, pulse, sine, exponential, lines };
  Kind kind = Kind::none;
  std::vector<double> numbers;

  double at(double t) const;
  /// d/dt, of what is straight from one break to the next.
  double slope(double t) const;
  /// Times within (0, stop) at which the slope jumps are added; false: they are more than `most`.
  bool breaks(double stop, std::size_t most, std::vector<double>& times) const;
  /// What it would take from an analysis, in words; empty: nothing.
  std::string missing() const;
  /// "PULSE(0 1 …)".
  std::string text() const;

 private:
  double number(std::size_t i, double otherwise = 0) const { return i < numbers.size() ? numbers[i] : otherwise; }
  struct Line {
    double begin, value, slope;
  };
  Line line_at(double t) const;
};

}  // namespace nudge
