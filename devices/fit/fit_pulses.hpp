// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "devices/fit/pulse_likelihood.hpp"

namespace nudge {

/// A device model fitted to measured pulses of one device.
struct PulseFit {
  DeviceSpec spec;
  double step_residual = 0;   ///< rms of measured minus predicted single steps, in mean pulses
  double curve_residual = 0;  ///< rms distance of the replayed curve, of the record's range
  double mean_residual = 0;   ///< the same of a horizontal line
  /// Of the differences d_i of that distance from pulse to pulse, white noise σ of reads has ⟨d_i d_{i+1}⟩ = −σ² and adds 2 σ² to ⟨d²⟩;
  /// the rest is noise of pulses. σ, of the record's range; 0 where none shows. It knows nothing of the likelihood's noise.
  double read_noise = 0;
  /// Of that distance from one pulse to the next: near 1, noise of pulses or a curve of another shape; near 0, noise of reads.
  double autocorrelation = 0;
  LikelihoodFit likelihood;
  RecordRange range = {};                    ///< of the reads
  std::vector<FittedNumber> intervals = {};  ///< by add_intervals()

  /// Whether the curve beats a horizontal line by Akaike's criterion n ln(residual²) + 2 · numbers.
  bool better_than_mean() const;
  /// What should be known before the fit is believed: bounds that were never approached, errors that are not white.
  std::vector<std::string> warnings() const;
};

/// The models that fit_pulses knows. Not among them: ideal, which has no pulses, and soft_bounds_reference, of one device soft_bounds
/// with other bounds. vteam and yakopcic need voltages.
const std::vector<std::string>& fitted_models();

/// Fits a model to a whole record by largest_likelihood(), from first_guesses(). Noise of pulses is update_noise; noise of reads
/// (likelihood.noise) is the device's and the instrument's, and not in the spec. UserError for an unknown model (closest name) or a
/// record without a window.
PulseFit fit_pulses(const PulseRecord& record, const std::string& model, int points = 9);

/// One device of several records (cycles).
PulseFit fit_records(const std::vector<PulseRecord>& records, const std::string& model, int points = 9);

/// Adds the 95 % intervals of profile_intervals(), which take a few times as long as the fit.
void add_intervals(PulseFit& fit, const std::vector<PulseRecord>& records);

/// The fit as TOML for a configuration, with its residuals and intervals as comments.
std::string fit_toml(const PulseFit& fit, const std::string& source);

}  // namespace nudge
