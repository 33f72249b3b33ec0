// SPDX-License-Identifier: Apache-2.0
// States of a system in its bath, one sweep after the other (sim/bath.hpp): what is returned is the mean of the last ones, and the
// residual that of the force there, which tells how far the mean is from rest and not whether anything has settled.
#include "sim/base/errors.hpp"
#include "sim/steady/monitor.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {

template <class S>
SettleResult settle_sample(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                           SettleWorkspace<S>& scratch) {
  const Capabilities<S> capabilities = dynamics.capabilities();
  dynamics.set_read_timing({options.step, options.step});
  scratch.force.resize(z.rows(), z.cols());
  Monitor monitor(options, scratch.residuals);
  FixedStepEnd<S> end(options, scratch);
  SettleResult result;
  while (result.steps < options.max_steps && !monitor.out_of_bounds(frobenius_norm<S>(z))) {
    for (std::size_t node = 0; node < capabilities.layered->nodes(); ++node) {
      capabilities.layered->node_force(z, scratch.force, node);
      capabilities.bath->move(z, scratch.force, node, static_cast<S>(options.step), {});
    }
    ++result.force_evaluations;
    ++result.steps;
    result.time = result.steps * options.step;
    end.add(z, result.steps);
  }
  return end.finish(dynamics, z, monitor, result);
}

#define NUDGE_SAMPLE(S) \
  template SettleResult settle_sample<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_SAMPLE)

}  // namespace nudge
