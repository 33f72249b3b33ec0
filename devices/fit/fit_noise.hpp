// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "devices/fit/long_table.hpp"
#include "devices/state_tables.hpp"

namespace nudge {

/// One-sided power spectral density over a band of frequencies.
struct SpectrumBand {
  double frequency_Hz = 0;  ///< geometric mean of the band's ends
  double psd = 0;           ///< mean over the band, unit²/Hz
  double values = 0;  ///< independent values of a periodogram in the band: a relative standard error of 1/√values
  std::vector<double> points_Hz = {};  ///< points evenly spaced over the band, for the mean of a model
};

/// Standard error of a band's psd in decibels, 10 lg(e)/√values.
double spectrum_error_dB(const SpectrumBand& band);

/// Periodogram of evenly spaced samples under a Hann window w_t = 2 sin²(πt/n):
///
///     (2 dt/n)(2/3) |Σ w x exp(−2πi k t/n)|²
///
/// It is averaged over bands of half an octave, or of 32 values where that is more. They go from k = 2 to below half the rate. Neighbouring values of a Hann
/// periodogram are correlated: m of equal size count as m/1.94 = m/(n Σw⁴/(Σw²)²) (Welch, IEEE Trans. Audio 15 (1967) 70), and of a falling
/// spectrum fewer, (Σ1/f)²/Σ1/f² instead of m. All but the last samples are used, as many as have no prime factor above 5.
std::vector<SpectrumBand> banded_spectrum(const std::vector<double>& samples, double interval_s);

/// A number and its 95 % interval.
struct NoiseEstimate {
  double value = 0, low = 0, high = 0;
};

/// Model of the spectrum of reads dt apart: white noise, 1/f^α noise and one trap,
///     S(f) = 2 dt σ² + Σ_k v_k L(f, τ_k) + V L(f, τ_c)
/// with L of sampled_lorentzian(), v_k of flicker_variance(Q, α, τ_k) (Q in the unit of the reads) and V the variance of the trap.
/// The sum runs over the very time constants that devices are simulated with: model and simulation differ by nothing but sampling.
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
  /// Mean of the model's spectrum over a band.
  double psd(const SpectrumBand& band) const;
};

/// Time constants for records of reads dt apart: from dt/10, by decades, to the first that is at least 3 records long. Beyond
/// both ends, where nothing was measured, the sum falls and goes flat.
std::vector<double> noise_time_constants(double interval_s, double record_s);

/// Fits the model to the decibels of the bands by least squares: Levenberg–Marquardt from a grid of starts, errors
/// √(sampling² + 0.5²) dB. Such a sum may be off in shape by 0.5 dB (the ripple of discrete time constants is 0.2 dB). A trap
/// is taken where it lowers Schwarz's criterion. Intervals from the curvature, ±1.96 standard errors.
NoiseModel fit_noise_model(const std::vector<SpectrumBand>& bands, double interval_s, std::vector<double> times_s);

/// Spectrum of one level in one band of frequencies, measured and of the fitted model, S²/Hz, one-sided.
struct NoiseRow {
  double level_S = 0, frequency_Hz = 0;
  double psd_measured = 0, psd_model = 0;
  double error_dB = 0;  ///< standard error of the measured spectrum

  double off_dB() const;
};

struct NoiseLevel {
  double level_S = 0;  ///< mean of the level's reads
  std::size_t cells = 0, reads = 0;
  NoiseModel model = {};
  TrapValues trap = {};  ///< trap with relative amplitude; 0: none
};

struct NoiseFit {
  double interval_s = 0;
  std::vector<NoiseLevel> levels = {};
  std::vector<NoiseRow> rows = {};  ///< level by level
  NoiseTable table = {};
  double fastest_s = 0, slowest_s = 0;  ///< time constants of 1/f^α noise: shortest and longest

  double worst_dB() const;
};

/// Fits the noise of reads over level to records of parse_read_records(): for each level a NoiseModel of the mean spectrum of its
/// cells (banded_spectrum()). The times that a trap stays in its two states come from the skewness of the reads about their
/// running mean over 8 τ_c. All other noise is Gaussian, and a two-valued process has the skewness (1 − 2p)/√(p(1 − p)) (p limited
/// to 0.05 to 0.95). UserError also for levels whose reads are not equally far apart, or have the same mean or one below 0 S.
NoiseFit fit_noise(const std::string& path, double rate_Hz, TableLook* look = nullptr);
NoiseFit parse_and_fit_noise(std::string_view text, const std::string& file, double rate_Hz, TableLook* look = nullptr);

/// Fit as TOML for a configuration, section [device], with the numbers and their intervals as comments.
std::string noise_toml(const NoiseFit& fit, const std::string& source);
/// Report of the fit for people, µS: the numbers of each level, then measured beside model.
std::string noise_text(const NoiseFit& fit);

/// Successive reads of one cell, an interval apart.
struct ReadRecord {
  double level = 0;  ///< programmed level, as the table names it; the cell's number without a level
  double interval_s = 0;
  std::vector<double> conductance_S = {};
  std::string where = {};  ///< file:line of the record's beginning
};

/// Reads per second of the tables without a header that RRAM-Relaxation-Master-Model publishes (its settings.json: fs).
inline constexpr double published_rate_Hz = 400;

/// Records of successive reads, at least 256 each. The text may be a table of long_table.hpp with columns time and conductance and,
/// if there, cell and level. Without a header it has a row per cell: its level, an offset, and its reads in siemens, as
/// RRAM-Relaxation-Master-Model publishes them. Such rows have `rate_Hz` reads per second (0: published_rate_Hz). A column time tells
/// the rate itself, and rate_Hz beside it is refused. UserError with file:line also for times that do not rise or leave gaps of more than
/// 1.5 intervals, and for reads that are all the same.
std::vector<ReadRecord> parse_read_records(std::string_view text, const std::string& file, double rate_Hz,
                                           TableLook& look);

}  // namespace nudge
