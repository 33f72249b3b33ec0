// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/iv_sweep.hpp"
#include "devices/fit/pulse_likelihood.hpp"

namespace nudge {

/// Law of a memristor fitted to sweeps.
struct IvLaw {
  DeviceSpec spec;
  double rms = 0;          ///< rms of ln(current) that it leaves
  double akaike = 0;       ///< n ln(squares/n) + 2 numbers
  double correlation = 0;  ///< correlation of the residuals from row to row
  std::vector<FittedNumber> numbers;
};

/// Answer of a fit to sweeps.
struct IvFit {
  IvReads reads;
  std::vector<IvLaw> laws;  ///< the one with the least Akaike criterion first; empty: why_no_law
  std::string why_no_law;
  std::vector<std::string> warnings;
};

/// Fits vteam or yakopcic, or both (model "auto"), to sweeps with times in which a device is set and reset:
///     dx/dt = f(x, V(t)) of the law,   I = G(x) V0 sinh(V/V0),
/// with V linear from row to row, G of vteam 1/(R_off + x (R_on − R_off)), of yakopcic g_min + x (g_max − g_min), and V0 as the
/// reads show it (device.iv_sinh; none: I = G V). Least squares of asinh(I/I_f), the logarithm of currents above I_f, 2 % of
/// the off state's at the peak, by Levenberg–Marquardt from four starts. The
/// two that are best after 40 steps go on to at most 150. Rows at the instrument's limit count only as voltages.
/// Intervals come from the curvature at the minimum with Student's t; a number within a factor e^3 is open. A set at
/// negative voltages turns both signs. The widths and volts of device pulses are chosen: the set and reset voltages, and 100 mean
/// pulses across the window. There is no law where the best leaves 15 % of the rms of a device that does not move.
/// Nor is there one of an off state that noise hides, a current limited at the sign of the reset, or a threshold switch. UserError for another model, or as look_at_sweeps().
IvFit fit_iv(const IvData& data, const std::string& model);

/// Fit as a table for people, and as TOML.
std::string iv_text(const IvFit& fit);
std::string iv_toml(const IvFit& fit, const std::string& source);

}  // namespace nudge
