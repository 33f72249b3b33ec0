// SPDX-License-Identifier: Apache-2.0
#include "training/check/free_phase_check.hpp"

#include <algorithm>

#include "circuits/circuit_dynamics.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/check/stability.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/data_options.hpp"

namespace nudge {
namespace {

constexpr Index kJudgedRows = 8, kJudgedSequences = 4;

/// Share of the columns of all matrices of the equilibrium's parameters whose gradient is 0. Not of vectors: the bias of a
/// linear output learns whatever is dead below it.
double dead_share(const Network<double>& network, const Gradient<double>& gradient) {
  Index dead = 0, all = 0;
  for (const ParameterGroup& group : equilibrium_groups(network.plan())) {
    if (gradient[group.parameter].rows() == 1) continue;
    for (Index j = group.columns.begin; j < group.columns.end(); ++j, ++all) {
      dead += (gradient[group.parameter].col(j).array() == 0).all() ? 1 : 0;
    }
  }
  return all > 0 ? static_cast<double>(dead) / static_cast<double>(all) : 0;
}

}  // namespace

void as_visited(BatchGradientOptions& options) {
  if (options.persistent_states) options.phases.free.max_steps *= judged_visits;
  options.persistent_states = false;
}

Equilibrium judge_free_phase(const Config& config, const Network<double>& network, const SettleOptions& phase,
                             const Batch& batch) {
  if (phase.solver == SettleSolver::sample || moves_input(config)) return {};
  const bool coupled = network.plan().couples_rows();
  const Batch part = batch.first(coupled ? kJudgedSequences : (kJudgedRows + network.rows() - 1) / network.rows());
  BatchGradientOptions options = exact_options<double>(config);
  options.estimator = phase.solver == SettleSolver::direct ? "adjoint" : "implicit";
  options.phases.adjoint_iterations = 10;  // what is 0 is 0 from the first on
  options.phases.free = phase;
  options.phases.step = phase.step;
  as_visited(options);
  options.over_ranks = false;
  options.noise_every = 0;
  const Reference at = exact_gradient(network, options, part);
  std::vector<Equilibrium> found(at.states.size());
  parallel_for(part.sequences, options.threads, [&](Index b, int /*thread*/) {
    const auto k = static_cast<std::size_t>(b);
    CircuitDynamics<double> dynamics(network.circuit(), network.rows(), 1);
    bind_ideally(network, part, b, dynamics);
    found[k] =
        judge_point(dynamics, at.states[k], coupled, at.report.sequences[k].free, phase.motion, parallel_step(phase));
  });
  Equilibrium out;
  for (const Equilibrium& one : found) out.add(one);
  out.keys = advisable_keys(config);
  confirm_steps(out, [&](double residual, int most) {
    options.phases.free.tolerance = residual;
    options.phases.free.max_steps = most;
    const BatchReport report = BatchGradient<double>(network, options).evaluate(part, 0);
    SettleResult all;
    all.residual = 0;
    for (const SequenceReport& one : report.sequences) {
      all.residual = std::max(all.residual, one.free.residual);
      all.steps = std::max(all.steps, one.free.steps);
    }
    return all;
  });
  // A cost of 0 asks nothing of any unit, and samples that are all 0 tell none anything.
  const bool told = part.features.size() == 0 || !part.features.isZero(0);
  if (at.report.loss != 0 && told) out.dead = dead_share(network, at.gradient);
  return out;
}

}  // namespace nudge
