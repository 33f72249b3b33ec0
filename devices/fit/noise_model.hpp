// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "devices/fit/read_spectrum.hpp"

namespace nudge {

/// A number and its 95 % interval.
struct NoiseEstimate {
  double value = 0, low = 0, high = 0;
};

/// Spectrum of reads dt apart: white noise, 1/f^α noise and one trap,
///     S(f) = 2 dt σ² + Σ_k v_k L(f, τ_k) + V L(f, τ_c)
/// with L of sampled_lorentzian(), v_k of flicker_variance(Q, α, τ_k) (Q in the unit of the reads) and V the variance of the trap. Sum over the
/// very time constants that devices are simulated with: model and simulation differ by nothing but sampling.
struct NoiseModel {
  double interval_s = 0;
  std::vector<double> times_s = {};  ///< τ_k, a decade apart
  NoiseEstimate white = {};          ///< σ
  NoiseEstimate flicker = {};        ///< Q at 1 Hz
  NoiseEstimate exponent = {};       ///< α
  NoiseEstimate trap_sigma = {};     ///< √V; 0: no trap
  NoiseEstimate trap_s = {};         ///< τ_c

  bool has_trap() const { return trap_sigma.value > 0; }
  double psd(double frequency_Hz) const;
  /// Mean over a band.
  double psd(const SpectrumBand& band) const;
};

/// Time constants for records of reads dt apart: from dt/10, by decades, to the first that is at least 3 records long. Beyond both
/// ends lies what was not measured: there the sum falls and goes flat.
std::vector<double> noise_time_constants(double interval_s, double record_s);

/// Least squares of the decibels of the bands by Levenberg–Marquardt from a grid of starts, errors √(sampling² + 0.5²) dB: 0.5 dB is what such a
/// sum may be off in shape (the ripple of discrete time constants is 0.2 dB). A trap is taken where it lowers
/// Schwarz's criterion. Intervals from the curvature, ±1.96 standard errors.
NoiseModel fit_noise_model(const std::vector<SpectrumBand>& bands, double interval_s, std::vector<double> times_s);

}  // namespace nudge
