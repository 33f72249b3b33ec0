// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/pulse_csv.hpp"

namespace nudge {

/// A device model fitted to measured pulses.
struct PulseFit {
  DeviceSpec spec;
  double step_residual = 0;   ///< rms of measured minus predicted single steps, in mean pulses
  double curve_residual = 0;  ///< rms distance of the replayed curve, of the record's range
  double mean_residual = 0;   ///< the same of a horizontal line
  /// Of the differences d_i of that distance from pulse to pulse, white noise σ of reads has ⟨d_i d_{i+1}⟩ = −σ² and adds 2 σ² to ⟨d²⟩;
  /// the rest is noise of pulses. σ, of the record's range; 0 where none shows.
  double read_noise = 0;
  double autocorrelation =
      0;            ///< of that distance from one pulse to the next: near 1, the curve has another shape; near 0, noise
  int numbers = 0;  ///< that were fitted

  /// Akaike's criterion of n replayed values, less a constant: n ln(curve_residual²) + 2 · numbers.
  double akaike(std::size_t n) const;
};

/// The models that fit_pulses knows.
const std::vector<std::string>& fitted_models();

/// Fits a model to whole records by least squares (fit_trajectory()), from a first fit to the single steps dg(g), without those that end
/// at the extremes of the record (cut by a bound): window, mean pulse s, asymmetry and shape. update_noise is what the curve's
/// differences scatter around the fit beyond noise of reads, in pulses; noise of reads is none of the device's. The first fit: linear_step: a line per direction, its slope held within [0, s]; soft_bounds: the line through
/// zero at the bound; exponential_step: s (1 − A exp(γ z)) with the best γ of a grid of 60 from 0.05 to 20;
/// piecewise: tables of `points` values, steps below zero taken as zero. UserError for an unknown model (closest name) or a record without a window.
PulseFit fit_pulses(const PulseRecord& record, const std::string& model, int points = 9);

/// One curve for several records, each in its own window (the range of the record): the steps of all, of their windows, are fitted
/// together; g_min and g_max are the means of the windows' ends, the residuals are over all records. One record: fit_pulses().
PulseFit fit_records(const std::vector<PulseRecord>& records, const std::string& model, int points = 9);

/// The fit as TOML for a configuration, with its residuals as comments.
std::string fit_toml(const PulseFit& fit, const std::string& source);

}  // namespace nudge
