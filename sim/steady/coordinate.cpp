// SPDX-License-Identifier: Apache-2.0
// Block coordinate descent: node after node moves to where nothing pushes it while the others stand still,
//     z_j ← P(z_j + F_j(z)/D_j),   D_j = −∂F_j/∂z_j (Layered::loads; Layered::solve_node where units have laws of their own),
// every second node and then the others. Of a force that is minus the slope of a convex energy, quadratic with the diagonal D
// within every node, that is its exact minimum over a node and a box, and the energy never rises: Scellier 2024
// (arXiv 2402.11674) for resistive networks with ideal diodes. A residual is that of the forces that a sweep met. It is no
// circuit's way: time and energy are not counted.
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/steady/monitor.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {

template <class S>
SettleResult settle_coordinate(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                               SettleWorkspace<S>& scratch) {
  Matrix<S>& force = scratch.force;
  force.setZero(z.rows(), z.cols());
  dynamics.set_read_timing({options.step, 0});
  Monitor monitor(options, scratch.residuals);
  FixedStepEnd<S> end(options, scratch);
  SettleResult result;
  Layered<S>& layered = *dynamics.layered();
  const std::size_t nodes = layered.nodes();
  const Box<S>* box = dynamics.box();
  const Matrix<S>& loads = *layered.loads();
  scratch.extra = (loads.array() > S(0)).select(loads.array().inverse(), S(0)).matrix();  // what nothing loads stays
  while (result.steps < options.max_steps) {
    double met = 0;  // what the other columns hold after a node is undefined
    for (std::size_t k = 0; k < nodes; ++k) {
      const std::size_t j = alternating_node(k, nodes);
      const auto [begin, count] = layered.node_columns(j);
      layered.node_force(z, force, j);
      if (options.step_residuals) {
        if (box != nullptr) box->hold(z, force, force, {begin, count});
        const double own = frobenius_norm<S>(force.middleCols(begin, count));
        met += own * own;
      }
      layered.solve_node(z, force, scratch.extra, {begin, count});
      if (box != nullptr) box->project(z, {begin, count});
    }
    ++result.force_evaluations;
    ++result.steps;
    if (monitor.observe(frobenius_norm<S>(z), std::sqrt(met))) return monitor.finish(result);
    end.add(z, result.steps);
  }
  return end.finish(dynamics, z, monitor, result);
}

#define NUDGE_COORDINATE(S) \
  template SettleResult settle_coordinate<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_COORDINATE)

}  // namespace nudge
