// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace nudge {

/// One-sided power spectral density over a band of frequencies.
struct SpectrumBand {
  double frequency_Hz = 0;  ///< geometric mean of its ends
  double psd = 0;           ///< mean over the band, unit²/Hz
  double values = 0;        ///< independent values of a periodogram in it: a relative standard error of 1/√values
  std::vector<double> points_Hz = {};  ///< evenly spaced over it: where a model is averaged
};

/// Standard error of psd in decibels, 10 lg(e)/√values.
double spectrum_error_dB(const SpectrumBand& band);

/// Periodogram of evenly spaced samples under a Hann window w_t = 2 sin²(πt/n), (2 dt/n)(2/3) |Σ w x exp(−2πi k t/n)|², mean
/// over bands of half an octave, or of 32 values where that is more, from k = 2 to below half the rate. Neighbouring values of a Hann
/// periodogram are correlated: m of equal size count as m/1.94 = m/(n Σw⁴/(Σw²)²) (Welch, IEEE Trans. Audio 15 (1967) 70), and of a falling
/// spectrum fewer, (Σ1/f)²/Σ1/f² instead of m. All but the last samples are used, as many as have no prime factor above 5.
std::vector<SpectrumBand> banded_spectrum(const std::vector<double>& samples, double interval_s);

/// Spectrum of a process of variance 1 and correlation exp(−t/τ), sampled every dt: 2 dt (1 − c²)/(1 − 2c cos 2πf dt + c²), c = exp(−dt/τ): the
/// Lorentzian 4τ/(1 + (2πfτ)²) with what sampling folds into the band.
double sampled_lorentzian(double frequency_Hz, double interval_s, double tau_s);

}  // namespace nudge
