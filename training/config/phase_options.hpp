// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/term.hpp"
#include "sim/config/section.hpp"
#include "training/learning/estimators/estimator.hpp"

namespace nudge {

/// The sections [relaxation] and [nudge]: how phases settle, and what nudges them. Step, beta and lag of `phases` are those of a
/// network (assembly.hpp).
struct PhaseOptions {
  EstimatorOptions phases;
  double fixed_step = {};     ///< ε; 0: step_fraction/L
  double step_fraction = {};  ///< of 1/L
  NudgedDrive drive = {};
  bool below_rounding = {}, below_noise = {};

  bool sweeps() const { return phases.free.schedule == RelaxationSchedule::sweep; }
};
const Section<PhaseOptions>& phase_section();
inline PhaseOptions phase_options(const Config& config) { return phase_section().read(config); }

}  // namespace nudge
