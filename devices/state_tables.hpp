// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace nudge {

/// Numbers of one trap at one conductance.
struct TrapValues {
  double amplitude = 0;  ///< distance of the two values, as a share of the conductance
  double high_s = 1, low_s = 1;

  double share_high() const { return high_s / (high_s + low_s); }
  double correlation_time_s() const { return 1 / (1 / high_s + 1 / low_s); }
};

/// Noise of a conductance, measured at some conductances, one number per level in each list that is not empty. Values are linear
/// between levels (for times their logarithms are) and constant beyond the end levels. `devices fit FILE --noise` fills it.
struct NoiseTable {
  std::vector<double> level_S = {};   ///< ascending
  std::vector<double> white_S = {};   ///< standard deviation of the fresh noise of one read per √τ
  std::vector<double> flicker = {};   ///< Q of S(f) = g² Q²/f (f/1 Hz)^(1 − α)
  std::vector<double> exponent = {};  ///< α
  std::vector<double> trap = {};      ///< amplitude of telegraph noise, as a share of the conductance
  std::vector<double> trap_high_s = {}, trap_low_s = {};

  bool has_white() const { return !white_S.empty(); }
  bool has_flicker() const { return !flicker.empty(); }
  bool has_traps() const { return !trap.empty(); }

  double white_at(double g_S) const { return at(white_S, g_S); }
  double flicker_at(double g_S) const { return at(flicker, g_S); }
  /// Exponent α at a conductance; `standard` if the list is empty.
  double exponent_at(double g_S, double standard) const { return exponent.empty() ? standard : at(exponent, g_S); }
  TrapValues trap_at(double g_S) const;

  /// Error text of the table; empty: none.
  const char* problem() const;

 private:
  double at(const std::vector<double>& list, double g_S) const;
};

/// 1/f^α noise as a sum of Ornstein–Uhlenbeck processes whose time constants τ_k stand h = ln 10 apart: variances
///     v_k = Q² C τ_k^(α − 1) h,   C = (2π)^α sin(πα/2)/(2π)   (τ in s; C = 1 for α = 1)
/// add up to S(f) = Q²/f^α, one-sided, f in Hz, as ∫ 4 C τ^α/(1 + (2πfτ)²) d ln τ = C 4 (2πf)^−α π/(2 sin(πα/2)). 0 < α < 2.
/// The discrete time constants leave a ripple of 5.5 % (α = 1), the ends of the sum a smooth fall.
double flicker_variance(double q, double exponent, double tau_s);

/// Polynomial Σ c_k rᵏ; 0 without coefficients.
double polynomial(const std::vector<double>& coefficients, double r);

/// A published fit of a dimensionless quantity over the state r = g/g_max, as the list
///
///     [a, b, lowest, highest]                        clip(a ln r + b, lowest, highest)
///     [a, b, lowest, highest, knee, q0, q1, ...]     the same below r = knee, q0 + q1 r + q2 r² + ... from there on
///
/// the two forms in which the statistics of phase-change memory are published (notes of the presets pcm and hermes_*).
struct StateFit {
  std::vector<double> numbers = {};

  bool given() const { return !numbers.empty(); }
  /// Value of the fit at r, which is taken to be at least 1e-7, as in the sources' programs.
  double at(double r) const;
  /// Error text of the list; empty: none.
  const char* problem() const;
};

}  // namespace nudge
