// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "devices/fit/bake_table.hpp"
#include "devices/fit/cell_moments.hpp"

namespace nudge {

/// How an activation energy is known.
enum class ActivationSource {
  measured,  ///< from times at several temperatures that fall onto one curve
  kinetics,  ///< from the attempt frequency alone: the table has one time at each temperature
  no_curve,  ///< likewise: its times at several temperatures fall onto no curve
  given,     ///< by the user
};

struct ActivationEstimate {
  double value_eV = 0, low_eV = 0, high_eV = 0;  ///< 95 % interval; for kinetics the range over the points
  ActivationSource source = ActivationSource::measured;
};

/// Attempt frequency of an activated step of atoms, kT/h at 480 K, a usual assumption for oxides (10^13 per second).
inline constexpr double attempt_Hz = 1e13;

/// Activation energy of relaxation. Where some temperature was measured at times a factor 3 apart, the energy for which variance and mean of
/// each level are a cubic in ln(t exp(−E/kT)), with bends of the size of their range: weighted least squares, sampling errors and 3 % of the spread as errors, E
/// between 0 and 4 eV; interval where the squares rise by 3.84 times their mean. Otherwise, and where the best is above 3.9 eV, nothing in the table says how a time compares with a temperature
/// (a free curve fits any E): then E = kT ln(ν t), the barrier that a step of attempt frequency ν passes within the time, mean over
/// the points. moments[level][point].
ActivationEstimate activation_of(const BakeData& data, const std::vector<std::vector<Moments>>& moments);

}  // namespace nudge
