// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "devices/fit/noise_model.hpp"
#include "devices/noise_table.hpp"

namespace nudge {

/// Spectrum of one level in one band of frequencies, measured and of the fitted model, S²/Hz, one-sided.
struct NoiseRow {
  double level_S = 0, frequency_Hz = 0;
  double psd_measured = 0, psd_model = 0;
  double error_dB = 0;  ///< standard error of the measured one

  double off_dB() const;
};

struct NoiseLevel {
  double level_S = 0;  ///< mean of its reads
  std::size_t cells = 0, reads = 0;
  NoiseModel model = {};
  TrapValues trap = {};  ///< relative amplitude; 0: none
};

struct NoiseFit {
  double interval_s = 0;
  std::vector<NoiseLevel> levels = {};
  std::vector<NoiseRow> rows = {};  ///< level by level
  NoiseTable table = {};
  double fastest_s = 0, slowest_s = 0;  ///< time constants of 1/f^α noise

  double worst_dB() const;
};

/// Fits the noise of reads over level to records of parse_read_records(): for each level the mean spectrum of its cells
/// (banded_spectrum()), to that NoiseModel. How long a trap stays in either state comes from the skewness of the reads about their running mean over
/// 8 τ_c: all else is Gaussian, and of a two-valued process of variance V it is (1 − 2p)/√(p(1 − p)) (p limited to 0.05 to 0.95).
/// UserError also for levels whose reads are not equally far apart, or have the same mean or one below 0 S.
NoiseFit fit_noise(const std::string& path, double rate_Hz);
NoiseFit parse_and_fit_noise(std::string_view text, const std::string& file, double rate_Hz);

/// The fit as TOML for a configuration, section [device], with the numbers and their intervals as comments.
std::string noise_toml(const NoiseFit& fit, const std::string& source);
/// For people, µS: the numbers of each level, then measured beside model.
std::string noise_text(const NoiseFit& fit);

}  // namespace nudge
