// SPDX-License-Identifier: Apache-2.0
// The system's own solution (Dynamics::direct): one step, and no time but where it is read before it has settled; gradients that are computed are of
// the settled state. The residual is that of the force at the state found, as of any
// solver; a solution that was not found leaves the state, with `stalled`.
#include "sim/base/errors.hpp"
#include "sim/steady/monitor.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {

template <class S>
SettleResult settle_direct(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                           SettleWorkspace<S>& scratch) {
  Direct<S>* direct = dynamics.direct();
  dynamics.set_read_timing({options.step, 0});
  Monitor monitor(options, scratch.residuals);
  SettleResult result;
  const Reading* reading = dynamics.reading();
  DirectLoad<S> nothing;
  nothing.settled = reading != nullptr && reading->exact;
  const DirectResult solved = direct->solve(z, nothing);
  result.steps = solved.iterations;
  result.time = solved.time;
  scratch.force.resize(z.rows(), z.cols());
  dynamics.force(z, scratch.force);
  result.force_evaluations = solved.iterations + 1;
  monitor.observe(frobenius_norm<S>(z), frobenius_norm<S>(scratch.force));
  if (solved.status != Status::converged) monitor.give_up();
  return monitor.finish(result);
}

#define NUDGE_DIRECT(S) \
  template SettleResult settle_direct<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_DIRECT)

}  // namespace nudge
