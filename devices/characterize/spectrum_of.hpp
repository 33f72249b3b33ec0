// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Periodogram of each column of y (samples, series) under a Hann window w_t = 2 sin²(π t/samples), at up to 40
/// logarithmically spaced multiples k of 1/(samples dt) from the fourth to 1/(8 dt), mean over the columns:
/// (2 dt/samples)(2/3) |Σ w y exp(−2πi k t/samples)|², one-sided, divided by the response of a sample that is the mean of
/// `parts` moments of its interval, [sin(π f dt)/(parts sin(π f dt/parts))]². Needs 64 samples or more.
void hann_spectrum(const Matrix<double>& y, double dt_s, int parts, std::vector<double>& frequency_Hz,
                   std::vector<double>& spectrum);

/// Least-squares slope of ln s over ln f, points with s > 0 only; 0 with fewer than 3.
double log_slope(const std::vector<double>& f, const std::vector<double>& s);

/// Shares of 61 equal intervals between the extremes of y; `center` holds their middles. One interval when y is constant.
void histogram(const Matrix<double>& y, std::vector<double>& center, std::vector<double>& share);

}  // namespace nudge
