// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/config/run_parts.hpp"

namespace nudge {

/// Largest cause of an estimator's error, measured on the first batch at the first weights. Each part of the circuit is switched off, phases
/// get four and sixteen times the steps, and the nudge is half, a tenth and ten times of beta (forecast_gradient). Named is what takes away most of 1 − cosine,
/// with the cosine without it and with it: "noise of reads: 0.999 without, 0.526 with". The text says where that is less than half, or less than
/// a tenth. `beta`: as the check used it; 0: none. `cosine`: what the check found, where the first batch has none. Empty: a network that is
/// too large for the look.
std::string error_cause(const Config& config, const RunParts& run, const std::string& estimator, double beta,
                        double cosine);

}  // namespace nudge
