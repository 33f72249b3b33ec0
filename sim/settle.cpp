// SPDX-License-Identifier: Apache-2.0
#include "sim/settle.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "sim/bath.hpp"
#include "sim/config/suggest.hpp"
#include "sim/direct.hpp"
#include "sim/layered.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {
namespace {

constexpr std::array<std::pair<const char*, SettleSolver>, 9> kNames{{{"euler", SettleSolver::euler},
                                                                      {"second_order", SettleSolver::second_order},
                                                                      {"rk4", SettleSolver::rk4},
                                                                      {"dopri5", SettleSolver::dopri5},
                                                                      {"anderson", SettleSolver::anderson},
                                                                      {"newton_gmres", SettleSolver::newton_gmres},
                                                                      {"coordinate", SettleSolver::coordinate},
                                                                      {"direct", SettleSolver::direct},
                                                                      {"sample", SettleSolver::sample}}};

template <class S>
Solver<S> function_of(SettleSolver solver) {
  switch (solver) {
    case SettleSolver::euler:
    case SettleSolver::second_order: return settle_euler<S>;
    case SettleSolver::rk4: return settle_rk4<S>;
    case SettleSolver::dopri5: return settle_dopri5<S>;
    case SettleSolver::anderson: return settle_anderson<S>;
    case SettleSolver::newton_gmres: return settle_newton_gmres<S>;
    case SettleSolver::coordinate: return settle_coordinate<S>;
    case SettleSolver::direct: return settle_direct<S>;
    case SettleSolver::sample: return settle_sample<S>;
  }
  throw ContractViolation("no such solver");
}

void require(bool rule, const char* name, double value, const char* text) {
  if (!rule) throw UserError(fmt::format("settling option {} = {} must be {}", name, value, text));
}

void check(const SettleOptions& o) {
  require(o.step > 0 && std::isfinite(o.step), "step", o.step, "positive and finite (dt in units of tau)");
  require(o.max_steps >= 0, "max_steps", o.max_steps, "0 or more");
  require(o.tolerance >= 0, "tolerance", o.tolerance, "0 (never stop early) or positive");
  require(o.motion.mass >= 0 && std::isfinite(o.motion.mass), "mass", o.motion.mass, "0 or positive (tau^2)");
  require(o.motion.least_friction() >= 0, "friction", o.motion.least_friction(), "0 or positive (tau)");
  require(o.average_last >= 1, "average_last", o.average_last, "1 (no averaging) or more");
  require(o.divergence_ratio > 0, "divergence_ratio", o.divergence_ratio, "positive");
  require(o.window >= 2, "window", o.window, "2 or more");
  require(o.ode_relative_error > 0, "ode_relative_error", o.ode_relative_error, "positive");
  require(o.memory >= 1, "memory", o.memory, "1 or more");
}

/// Refuses a solver that has no step for the system. A config's rules say the same of its network (phase_needs()); a system of a user's
/// own comes here without a config.
template <class S>
void expect_step(Dynamics<S>& dynamics, const SettleOptions& o) {
  const bool euler = o.solver == SettleSolver::euler, coordinate = o.solver == SettleSolver::coordinate;
  const auto refuse = [&o](bool broken, const char* why) {
    if (broken) throw UserError(fmt::format("solver {}: {}", to_string(o.solver), why));
  };
  refuse(!o.motion.first_order() && !steps_in_time(o.solver),
         "it does not simulate amplifiers, whose lag only euler follows");
  refuse(o.schedule == RelaxationSchedule::sweep && (!euler || !o.motion.first_order()),
         "schedule sweep needs solver euler and no amplifier lag");
  refuse(dynamics.box() != nullptr && !steps_in_time(o.solver) && !coordinate,
         "states are kept in a box, which only euler, second_order and coordinate project onto");
  refuse(coordinate && (dynamics.layered() == nullptr || dynamics.layered()->loads() == nullptr),
         "units of one node act on each other here, or their load depends on the state. Use euler");
  refuse(coordinate && dynamics.noisy(), "reads have fresh noise, which only euler can follow");
  refuse(dynamics.driven() != nullptr && (!steps_in_time(o.solver) || o.schedule == RelaxationSchedule::sweep),
         "inputs change in time, which only parallel steps of euler and second_order follow");
  refuse(o.solver == SettleSolver::direct && dynamics.direct() == nullptr,
         "this system does not solve its own equations, as a netlist does. Use euler");
  refuse(o.solver == SettleSolver::sample && dynamics.capabilities().bath == nullptr,
         "this system has no heat bath, as a thermal network has. Use euler");
}

}  // namespace

const char* to_string(SettleSolver solver) {
  for (const auto& [name, known] : kNames) {
    if (known == solver) return name;
  }
  return "";
}

SettleSolver settle_solver(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, solver] : kNames) {
    if (name == known) return solver;
    names.emplace_back(known);
  }
  throw UserError(fmt::format("solver = \"{}\" is not a solver: {}", name, did_you_mean(name, names)));
}

const std::vector<SettleSolver>& settle_solvers() {
  static const std::vector<SettleSolver> all = {SettleSolver::euler,    SettleSolver::second_order,
                                                SettleSolver::rk4,      SettleSolver::dopri5,
                                                SettleSolver::anderson, SettleSolver::newton_gmres};
  return all;
}

template <class S>
SettleResult settle(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options, SettleWorkspace<S>& scratch) {
  NUDGE_EXPECT(z.rows() == dynamics.rows() && z.cols() == dynamics.cols());
  check(options);
  if (options.solver == SettleSolver::second_order && options.motion.first_order()) {
    SettleOptions moving = options;
    moving.motion = Motion::critical();
    return settle<S>(dynamics, z, moving, scratch);
  }
  expect_step(dynamics, options);
  if (sweeping(dynamics, options.schedule) != nullptr) return settle_sweep<S>(dynamics, z, options, scratch);
  return function_of<S>(options.solver)(dynamics, z, options, scratch);
}

#define NUDGE_SETTLE(S) \
  template SettleResult settle<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_SETTLE)

}  // namespace nudge
