// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/characterize/write_figures.hpp"
#include "devices/device_spec.hpp"
#include "sim/base/matrix.hpp"
#include "sim/io/h5_document.hpp"

namespace nudge {

struct CharacterizeOptions {
  Index devices = 100;       ///< devices of each experiment  [1 to 100000]
  int samples = 1024;        ///< number of looks in the noise record  [64 to 1e6]
  double interval_s = 1e-3;  ///< time between two looks, over which a look integrates  [> 0]
  int cycles = 20;           ///< cycles between the bounds  [1 to 10000]
  int points = 200;          ///< limit on the points of either branch of the staircase  [1 to 10000]
  double record = 0;         ///< pulses of either branch of the record of figures; 0: DeviceSpec::pulses  [2 to 1e6]
  bool one_by_one = false;   ///< send the pulses of the staircase one at a time, not all pulses of a point at once
  std::uint64_t seed = 1;

  /// Throws UserError naming the option, its value and the rule.
  void validate() const;
};

/// Staircase experiment: pulses up and then down, all devices starting at their lower bound.
struct Staircase {
  double pulses_per_point = 0;
  std::vector<double> pulse;  ///< pulses sent: rising, then counted on while falling
  std::vector<double> mean_S, spread_S;
  Matrix<double> conductance_S;  ///< (devices, points)
  double half_up =
      0;  ///< pulses that take the mean device from its lower bound to the middle between its bounds; 0: not within ten windows
  double half_down = 0;  ///< the same from its upper bound down
};

/// Window of the devices after cycles from bound to bound, with three windows of pulses each way.
struct Endurance {
  std::vector<double> cycle, low_S, low_spread_S, high_S, high_spread_S, pulses;
};

/// Conductance seen after decades of time, programmed to five places of the window, or to the levels nearest to them.
struct Retained {
  std::vector<double> time_s, target_S;
  Matrix<double> mean_S, spread_S;  ///< (levels, times)
  std::vector<double> exponent;     ///< exponent of a power law through the last four decades, per level
};

/// Kind of a noise spectrum within a band.
enum class SpectrumKind {
  none,        ///< nothing above the remainder of rounding and curved drift
  one_over_f,  ///< slope −1 ± 0.25, and −1 ± 0.5 in either half of the band
  other,       ///< white, a Lorentzian, ...
};

/// Noise record: looks at devices programmed to the middle of the window (or the level nearest to it), starting 1000 records after programming. By then
/// drift and decay are a straight line, which is taken off each device.
struct NoiseRecord {
  double target_S = 0;                   ///< programmed conductance
  std::vector<double> deviation, share;  ///< histogram of (g − line of its device)/mean, at the ends of the looks
  std::vector<double> frequency_Hz, spectrum_Hz;  ///< one-sided, relative to g², mean over the devices; within the band
  double trend = 0;                               ///< rms of the lines' change over the record, relative
  double slow_std = 0;                            ///< rms of telegraph and 1/f noise within the record, relative
  double fresh_std = 0;                           ///< rms of the fresh noise of a read per sqrt(tau), relative
  double floor = 0;                               ///< rms that rounding and curved drift may leave, relative
  SpectrumKind kind = SpectrumKind::none;
  double slope = 0;                         ///< slope of ln spectrum over ln frequency; 0 if there is no spectrum
  double slope_error = 0;                   ///< standard error of slope
  double lower_slope = 0, upper_slope = 0;  ///< slopes in the two halves of the band
  double q = 0;                             ///< Q of S = Q²/f, geometric mean over the band; one_over_f only
};

struct Characterization {
  DeviceSpec spec;
  CharacterizeOptions options;
  Staircase staircase;
  Endurance endurance;
  Retained retained;
  NoiseRecord noise;
  WriteFigures figures;
};

/// Measures devices as one would on a prober: every number comes from DeviceArray, nothing from the formulas.
Characterization characterize(const DeviceSpec& spec, const CharacterizeOptions& options);

/// Writes the measurements as groups of self-describing datasets.
void write(H5Document& file, const Characterization& c);

/// Summary as a page of text, and the same numbers as JSON.
std::string summary_text(const Characterization& c, const std::string& name);
std::string summary_json(const Characterization& c, const std::string& name);

/// Moments per look: a look is the mean of the conductance at this many equally spaced moments of its interval dt, an integrating
/// read-out. Noise faster than dt/64 folds back with 1/64 of its variance, white over 32/dt. Beside 1/f noise up to f_max the share is
///     (2 f dt/64) ln(f_max dt/32),   below 5 % at f = 1/(8 dt) for f_max dt < 1e6.
/// Instantaneous looks would have 64 times this share.
constexpr int looks_per_sample = 64;

/// Measures the noise of devices as NoiseRecord says. The spectrum is a periodogram with a Hann window, the straight line off.
/// It goes from the fourth multiple of 1/record (below it the window and the line act) to 1/(8 dt). It is divided by the read-out's
/// known response,
///     [sin(π f dt)/(64 sin(π f dt/64))]².
NoiseRecord noise_record(const DeviceSpec& spec, const CharacterizeOptions& options);

/// Least-squares slope of ln s over ln f, points with s > 0 only; 0 with fewer than 3.
double log_slope(const std::vector<double>& f, const std::vector<double>& s);

}  // namespace nudge
