// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/learning/estimators/estimator.hpp"
#include "training/learning/estimators/requirement.hpp"

namespace nudge {

/// Options of the phases: how they settle ([relaxation]) and how they are nudged (estimator_section()). Step of `phases`, the motion of amplifiers, and a beta
/// of 0, are set by the network (assembly.hpp).
struct PhaseOptions {
  EstimatorOptions phases;
  double fixed_step = {};     ///< ε; 0: step_fraction/L
  double step_fraction = {};  ///< step as a share of 1/L
  bool persistent_states = {};

  bool sweeps() const { return phases.free.schedule == RelaxationSchedule::sweep; }
};
const Section<PhaseOptions>& phase_section();

/// Requirements of a value of relaxation.solver, relaxation.schedule or nudge.form, in the order in which messages name
/// them.
std::vector<Requirement> phase_needs(const std::string& key, const std::string& value);

PhaseOptions phase_options(const Config& config);

/// Makes the amplifiers of a phase infinitely fast.
inline void leave_out_amplifiers(SettleOptions& phase) {
  if (phase.solver != SettleSolver::second_order) phase.motion = {};
}

}  // namespace nudge
