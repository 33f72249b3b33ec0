// SPDX-License-Identifier: Apache-2.0
// Why gradient estimators are wrong, as far as a gradient check tells.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sim/io/h5_reader.hpp"
#include "training/gradcheck/gradcheck.hpp"

namespace nudge {

/// Result of a gradient check for one estimator. NaN or 0: not measured, or it has none.
struct GradientError {
  std::string estimator;
  double cosine = 0;  ///< cosine of all parameters of the equilibrium; of the worst group if the file has no such row
  double beta = 0, snr = 0;
  double free_residual = 0, nudged_residual = 0;  ///< |F|/|z|, |f|/|z − z*|
  std::string cause = {};                         ///< EstimatorFacts::cause
  double noise_cosine =
      std::numeric_limits<double>::quiet_NaN();  ///< factor of the noise on the cosine (NudgeSignal::cosine)

  /// Finite differences check the reference: they are no competitor.
  bool checks_reference() const { return estimator == "finite_difference"; }
};

std::vector<GradientError> gradient_errors(const GradcheckReport& report);
/// Results in a file of kind gradcheck; empty if it has no rows.
std::vector<GradientError> gradient_errors(const H5Reader& file);

/// Verdict on the equilibrium that a command left in its file; empty in earlier versions and without free phases.
std::string equilibrium_of(const H5Reader& file);

/// Largest part of 1 − cosine, in words with its number; empty below 1e-4, and without diagnostics. On devices it is what the check found by
/// switching parts off, where it looked. Else parts are compared by the loss of cosine that each can explain: noise at most 1 − s/√(1 + s²) at the signal-to-noise s of the nodes; an unsettled free
/// phase what `implicit` loses, which is exact at that state; an unsettled nudged phase r²/2 of its residual r. Where none
/// of them explains half, the text of a cosine below 0.99 says so.
std::string main_error(const GradientError& one, const std::vector<GradientError>& all);

/// Text of a cosine: "0.9712", "1-3.1e-05" where it is closer to 1, "1", "-".
std::string short_cosine(double cosine);

/// Why a file of kind gradcheck has no exact gradient to compare with; empty where it has one.
std::string reference_failure(const H5Reader& file);

/// Answer of a gradient check. title: the closest estimator; sentence: how many reach 0.99, the farthest, and what
/// finite differences say of the reference. Without an exact gradient nothing is closest to it: `failure` says why.
struct GradcheckAnswer {
  std::string title, sentence;
};
GradcheckAnswer gradcheck_answer(const std::vector<GradientError>& all, const std::string& failure);

}  // namespace nudge
