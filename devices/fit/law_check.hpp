// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/fit/pulse_likelihood.hpp"

namespace nudge {

/// Verdict of a record on the law of its fit.
struct LawCheck {
  bool fails = false;
  std::string text = {};  ///< a warning that names the part of the law; empty where it holds
};

/// Tests whether the errors of prediction of a fit are as its law has them. Pulses are grouped by direction and by the read before them,
/// in up to six groups of one size and at least twelve pulses. With z the errors over their deviations, of n in a group c,
///
///     a_c = Σ z / √n,    b_c = Σ Φ⁻¹(2 Φ(|z|) − 1) / √n
///
/// are standard normal under the law, because the groups are known before the read is. a tells curves of another shape, b noise of
/// another size. b's terms are normal for any n, so that a few large errors do not decide. The fitted numbers take part of both. The
/// covariance is then C = 1 − A H⁻¹ Aᵀ: A is the covariance of sums and scores, H the information with expectations (Newey,
/// Econometrica 53:1047 (1985); Tauchen, J. Econometrics 30:415 (1985)). aᵀ C⁻¹ a is χ², of as many degrees as C has
/// eigenvalues above 0.05. Of smaller ones the numbers have taken nearly all.
///
/// Noise that is expected and does not show would count as a wrong law. One step of Newton takes its expectation off, as in C(α) tests
/// (Neyman, in Probability and Statistics (1959), p. 213). Either test fails at 1 %: together, 2 % of true laws.
LawCheck check_law(const LikelihoodFit& fit, const std::vector<PulseRecord>& records);

}  // namespace nudge
