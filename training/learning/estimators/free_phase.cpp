// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/free_phase.hpp"

#include "sim/steady/monitor.hpp"

namespace nudge {

template <class S>
void FreePhase<S>::relax(SequenceTask<S>& task, const SettleOptions& options, SequenceReport& report) {
  task.dynamics->begin_reads(ReadClass::free);
  SettleOptions settling = options;
  settling.final_residual = false;
  report.free = nudge::settle<S>(*task.dynamics, *task.state, settling, scratch_);
  force_.resize(task.state->rows(), task.state->cols());
}

template <class S>
void FreePhase<S>::keep(SequenceTask<S>& task, const SettleOptions& options) {
  if (task.hold != nullptr) hold_state(*task.dynamics, *task.hold, *task.state, options.average_last);
}

/// force_ at z*, of what can move, by monitor reads.
template <class S>
void FreePhase<S>::read_force(SequenceTask<S>& task) {
  task.dynamics->begin_reads(ReadClass::monitor);
  task.dynamics->force(*task.state, force_);
  if (const Box<S>* box = task.dynamics->box()) box->hold(*task.state, force_, force_, {0, force_.cols()});
}

template <class S>
void FreePhase<S>::finish(SequenceTask<S>& task, const SettleOptions& options, SequenceReport& report) {
  report.free.residual = relative_residual(static_cast<double>(force_.norm()), static_cast<double>(task.state->norm()));
  report.free.force_evaluations += 1;
  if (options.tolerance > 0 && report.free.residual <= options.tolerance) report.free.status = Status::converged;
  if (!std::isfinite(report.free.residual)) report.free.status = Status::diverged;
  report.cost_in_forces = report.free.force_evaluations;
  report.loss = task.cost->value(*task.state);
}

template <class S>
Linearization<S>& FreePhase<S>::run(SequenceTask<S>& task, const SettleOptions& options, SequenceReport& report) {
  relax(task, options, report);
  if (task.hold == nullptr && !task.dynamics->noisy()) {
    Linearization<S>& at = task.dynamics->linearize(*task.state);
    at.force(force_);  // the same number without another evaluation
    finish(task, options, report);
    return at;
  }
  read_force(task);  // where the phase has ended, not what is held of it
  keep(task, options);
  Linearization<S>& at = task.dynamics->linearize(*task.state);
  finish(task, options, report);
  return at;
}

template <class S>
void FreePhase<S>::settle(SequenceTask<S>& task, const SettleOptions& options, SequenceReport& report) {
  relax(task, options, report);
  read_force(task);
  keep(task, options);
  finish(task, options, report);
}

template class FreePhase<float>;
template class FreePhase<double>;

}  // namespace nudge
