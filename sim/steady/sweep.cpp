// SPDX-License-Identifier: Apache-2.0
// Nodes one after the other, in the order in which they drive each other: for every node in turn
//     z_j ← z_j + ε F_j(z_1 new, …, z_{j−1} new, z_j old, …),
// block Gauss–Seidel of the damped iteration of euler.cpp. A system whose nodes are driven by earlier ones alone (J lower
// triangular) with unit leak and ε = 1 is settled exactly by one sweep. A residual is that of the forces a sweep met.
#include <cmath>

#include "sim/read_timing.hpp"
#include "sim/steady/monitor.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {

template <class S>
SettleResult settle_sweep(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                          SettleWorkspace<S>& scratch) {
  Matrix<S>& force = scratch.force;
  force.resize(z.rows(), z.cols());
  const ReadTiming timing = euler_timing(options.step, dynamics.leak());
  dynamics.set_read_timing(timing);
  Monitor monitor(options, scratch.residuals);
  FixedStepEnd<S> end(options, scratch);
  SettleResult result;
  Layered<S>& layered = *dynamics.layered();
  const std::size_t nodes = layered.nodes();
  while (result.steps < options.max_steps) {
    NodeMove all;
    for (std::size_t j = 0; j < nodes; ++j) {
      const NodeMove one = layered.node_step(z, force, j, static_cast<S>(options.step));
      all.state += one.state;
      all.force += one.force;
    }
    ++result.force_evaluations;
    ++result.steps;
    result.time = result.steps * static_cast<double>(nodes) * timing.duration;
    if (monitor.observe(std::sqrt(all.state), std::sqrt(all.force))) return monitor.finish(result);
    end.add(z, result.steps);
  }
  return end.finish(dynamics, z, monitor, result);
}

#define NUDGE_SWEEP(S) \
  template SettleResult settle_sweep<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_SWEEP)

}  // namespace nudge
