// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/free_phase.hpp"

namespace nudge {

template <class S>
Linearization<S>& FreePhase<S>::run(SequenceTask<S>& task, const SettleOptions& options, SequenceReport& report) {
  Matrix<S>& z = *task.state;
  task.dynamics->begin_reads(ReadClass::free);
  SettleOptions settling = options;
  settling.final_residual = false;
  report.free = settle<S>(*task.dynamics, z, settling, scratch_);
  Linearization<S>& at = task.dynamics->linearize(z);
  force_.resize(z.rows(), z.cols());
  if (task.dynamics->noisy()) {
    task.dynamics->begin_reads(ReadClass::monitor);
    task.dynamics->force(z, force_);
    if (const Box<S>* box = task.dynamics->box()) box->hold(z, force_, force_, {0, z.cols()});
  } else {
    at.force(force_);  // the same number without another evaluation
  }
  report.free.residual = static_cast<double>(force_.norm()) / static_cast<double>(z.norm());
  report.free.force_evaluations += 1;
  if (options.tolerance > 0 && report.free.residual <= options.tolerance) report.free.status = Status::converged;
  if (!std::isfinite(report.free.residual)) report.free.status = Status::diverged;
  report.cost_in_forces = report.free.force_evaluations;
  report.loss = task.cost->value(z);
  return at;
}

template class FreePhase<float>;
template class FreePhase<double>;

}  // namespace nudge
