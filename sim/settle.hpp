// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// Order in which the nodes of a system move.
enum class RelaxationSchedule {
  parallel,  ///< all at once from the old state: a circuit
  sweep,     ///< one after the other, in the order in which they drive each other (sim/steady/sweep.cpp); euler only
};

enum class SettleSolver { euler, second_order, rk4, dopri5, anderson, newton_gmres, coordinate, direct, sample };
/// True for solvers whose fixed steps in time move all nodes by a Motion: euler, second_order.
constexpr bool steps_in_time(SettleSolver solver) {
  return solver == SettleSolver::euler || solver == SettleSolver::second_order;
}
const char* to_string(SettleSolver solver);
/// Solver of this name; UserError for an unknown name, naming the nearest.
SettleSolver settle_solver(const std::string& name);

/// Options of settle(). Times are in units of τ. Broken rules (in brackets) throw UserError.
struct SettleOptions {
  SettleSolver solver = SettleSolver::euler;
  double step = 0.3;   ///< ε = dt/τ of euler, second_order and rk4; first step of dopri5; mixing of anderson  [> 0]
  int max_steps = 30;  ///< steps (iterations) at most  [≥ 0]
  RelaxationSchedule schedule = RelaxationSchedule::parallel;  ///< a step of a sweep visits every node once
  double tolerance = 0;                                        ///< on r = ‖F‖/‖z‖; 0 never stops early  [≥ 0]
  Motion motion = {};  ///< of the nodes: of amplifiers under euler; of second_order, where none is Motion::critical()
  int average_last =
      1;  ///< euler, second_order, rk4: return the mean of the last n states (against read noise; at most
          ///< max_steps of them). A run that stops early on its tolerance is not averaged.  [≥ 1]
  bool step_residuals = true;        ///< coordinate: the residual of every sweep; false: of the last state alone
  bool final_residual = true;        ///< euler, second_order, rk4: evaluate the force once more at the returned state
  double divergence_ratio = 1e4;     ///< `diverged` when ‖z‖ > ratio · max(‖z_0‖, 1)  [> 0]
  int window = 16;                   ///< last residuals that tell stalled and oscillating from max_steps  [≥ 2]
  double ode_relative_error = 1e-6;  ///< dopri5: local error per step, relative and absolute; where there is a
                                     ///< tolerance, at most a tenth of it  [> 0]
  int memory = 5;                    ///< anderson: depth; newton_gmres: the Krylov dimension is 10·memory  [≥ 1]
};

/// Outcome of settle(). residual is ‖F‖_F/‖z‖_F at the returned state. Without final_residual it is the value of the
/// last evaluation.
struct SettleResult {
  Status status = Status::max_steps;
  int steps = 0;
  int force_evaluations = 0;  ///< newton_gmres: a linearize() and a jvp() count as one each
  double residual = 0;
  double time =
      0;  ///< simulated time in units of τ: steps times the duration of one (0 for solvers that are not an ODE)
  double decay = 0;  ///< geometric mean of r_{k+1}/r_k over the last `window` steps: ρ of the slow mode (0: unknown)
};

/// Buffers of settle(), sized on first use and then reused. euler allocates nothing after the first call of a shape; the
/// others allocate their steppers and Krylov spaces per call. residuals holds r_0, r_1, ... of the last run. If each_step
/// is set, it is called with the state and the number of steps. This happens after every step of euler, second_order, rk4, a sweep,
/// coordinate and sample.
template <class S>
struct SettleWorkspace {
  Matrix<S> force, mean, extra, flow, held;
  std::vector<double> residuals;
  std::function<void(ConstMatrixRef<S> z, int steps)> each_step;
};

/// Nodes that a sweep visits; null where all move at once: by the schedule, or because the system is one node.
template <class S>
Layered<S>* sweeping(Dynamics<S>& dynamics, RelaxationSchedule schedule) {
  return schedule == RelaxationSchedule::sweep ? dynamics.layered() : nullptr;
}

/// Relaxes z (rows, cols) in place until F(z) = 0; one system (k = 1). S is float or double.
/// - euler with tolerance 0 is exactly max_steps times z ← z + step · F(z), one evaluation each, then one more evaluation if
///   final_residual.
/// - second_order follows mass and friction of the nodes (sim/mover.hpp), and settles as euler does.
/// - euler_timing() and rk4_timing() of sim/read_timing.hpp give the read noise and the duration of reads, from Dynamics::leak().
/// - The other solvers are for noise-free forces. The durations of dopri5 add up to its time. No circuit works as anderson and
///   newton_gmres do: their reads last 0.
/// - A system in a box (DynamicsTraits::box) is projected after every step. Its residual counts the forces that can move it. euler,
///   second_order and coordinate only.
/// Throws UserError for an option out of range; numerical outcomes are in the status.
template <class S>
SettleResult settle(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options, SettleWorkspace<S>& scratch);

/// Solvers that any system has: all but coordinate, direct and sample. coordinate needs loads (Layered::loads;
/// sim/steady/coordinate.cpp). direct needs a system that solves itself (Dynamics::direct; sim/steady/direct.cpp), sample a bath
/// (sim/steady/sample.cpp).
const std::vector<SettleSolver>& settle_solvers();

}  // namespace nudge
