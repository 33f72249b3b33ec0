// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/nudged_phase.hpp"

#include "sim/steady/monitor.hpp"

namespace nudge {

template <class S>
void FreePhase<S>::relax(Example<S>& example, const SettleOptions& options, SequenceReport& report) {
  example.dynamics->begin_reads(ReadClass::free);
  SettleOptions settling = options;
  settling.final_residual = false;
  if (example.watch != nullptr) {
    example.watch->step(Phase::free, *example.state, 0);
    scratch_.each_step = [&](ConstMatrixRef<S> z, int steps) { example.watch->step(Phase::free, z, steps); };
  }
  report.free = nudge::settle<S>(*example.dynamics, *example.state, settling, scratch_);
  scratch_.each_step = nullptr;
  force_.resize(example.state->rows(), example.state->cols());
}

template <class S>
void FreePhase<S>::keep(Example<S>& example, const SettleOptions& options) {
  if (example.hold != nullptr) hold_state(*example.dynamics, *example.hold, *example.state, options.average_last);
}

/// force_ at z*, of what can move, by monitor reads.
template <class S>
void FreePhase<S>::read_force(Example<S>& example) {
  example.dynamics->begin_reads(ReadClass::monitor);
  example.dynamics->force(*example.state, force_);
  if (const Box<S>* box = example.dynamics->box()) box->hold(*example.state, force_, force_, {0, force_.cols()});
}

template <class S>
void FreePhase<S>::finish(Example<S>& example, const SettleOptions& options, SequenceReport& report) {
  report.free.residual =
      relative_residual(static_cast<double>(force_.norm()), static_cast<double>(example.state->norm()));
  report.free.force_evaluations += 1;
  if (options.tolerance > 0 && report.free.residual <= options.tolerance) report.free.status = Status::converged;
  if (!std::isfinite(report.free.residual)) report.free.status = Status::diverged;
  report.cost_in_forces = report.free.force_evaluations;
  report.loss = example.cost->value(*example.state);
}

template <class S>
Linearization<S>& FreePhase<S>::run(Example<S>& example, const SettleOptions& options, SequenceReport& report) {
  relax(example, options, report);
  if (example.hold == nullptr && !example.dynamics->noisy()) {
    Linearization<S>& at = example.dynamics->linearize(*example.state);
    at.force(force_);  // the same number without another evaluation
    finish(example, options, report);
    return at;
  }
  read_force(example);  // where the phase has ended, not what is held of it
  keep(example, options);
  Linearization<S>& at = example.dynamics->linearize(*example.state);
  finish(example, options, report);
  return at;
}

template <class S>
void FreePhase<S>::settle(Example<S>& example, const SettleOptions& options, SequenceReport& report) {
  relax(example, options, report);
  read_force(example);
  keep(example, options);
  finish(example, options, report);
}

NUDGE_BOTH_PRECISIONS_OF(FreePhase)

}  // namespace nudge
