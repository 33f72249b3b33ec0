// SPDX-License-Identifier: Apache-2.0
// Nudged phases as systems that settle() relaxes: by every solver.
#include "tests/support/catch.hpp"
#include "tests/support/tiny_model.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/run_parts.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Steps after which a phase is settled to rounding: its slowest mode decays by less than 0.9 a step (estimators_test.cpp).
constexpr int kSettled = 400;

/// The first batch of a small network of a kind, as its estimator learns from it.
Learned<double> learned_from(const std::string& kind, std::vector<std::string> settings, const std::string& estimator) {
  settings.insert(settings.begin(), {"estimator=" + estimator, "gradcheck.estimators=['" + estimator + "']"});
  const Config config = small(kind, settings);
  const RunParts parts = run_parts(config);
  return learn<double>(*make_network<double>(config, parts.plan, Weights::digital), parts.task->training(0),
                       gradient_options<double>(config, estimator));
}

}  // namespace

TEST_CASE("every solver relaxes the nudged phases as well as the free one", "[estimators]") {
  const auto model = tiny_model<double>(6);
  const Batch batch = tiny_batch(2, 6);
  for (const char* name : {"aep_anchored", "aep_transposed"}) {
    auto options = tiny_options(name, kSettled, kSettled);
    const auto euler = learn(*model, batch, options);
    REQUIRE(euler.report.nudged_residual < 1e-6);
    for (const SettleSolver solver :
         {SettleSolver::rk4, SettleSolver::dopri5, SettleSolver::anderson, SettleSolver::newton_gmres}) {
      CAPTURE(name, to_string(solver));
      options.phases.free.solver = solver;
      options.phases.free.tolerance = 1e-12;
      options.phases.free.ode_relative_error = 1e-12;
      const bool accelerated = solver == SettleSolver::anderson || solver == SettleSolver::newton_gmres;
      // Local errors of 1e-12 take steps of some 0.03 tau.
      options.phases.free.max_steps = solver == SettleSolver::dopri5 ? 20 * kSettled : kSettled;
      options.phases.nudged_steps = accelerated ? 40 : options.phases.free.max_steps;
      const auto other = learn(*model, batch, options);
      CHECK(other.report.diverged == 0);
      // Both residuals are below 1e-6 of the displacement; times the condition of J, below 1e2.
      CHECK(other.report.nudged_residual < 1e-6);
      CHECK(gradient_error(other.gradient, euler.gradient) < 2e-4);
    }
  }
}

TEST_CASE("every solver holds the outputs of coupled learning", "[estimators]") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"netlist", {"relaxation.solver=direct", "relaxation.solver=euler", "relaxation.solver=newton_gmres"}},
      {"resistive", {"relaxation.solver=euler", "relaxation.solver=coordinate"}},
      {"hopfield",
       {"relaxation.solver=euler", "relaxation.schedule=sweep", "relaxation.solver=rk4",
        "relaxation.solver=newton_gmres"}}};
  for (const auto& [kind, solvers] : cases) {
    const auto with = [&, name = kind](const std::string& solver) {
      return learned_from(name, {"beta=0.01", "relaxation.step_fraction=0.3", solver}, "coupled_learning");
    };
    const auto first = with(solvers.front());
    CHECK(flat(first.gradient).norm() > 1e-3);
    for (const std::string& solver : solvers) {
      CAPTURE(kind, solver);
      const auto other = with(solver);
      CHECK(other.report.nudged_residual < 1e-8);
      // Residuals of 1e-8 of the displacement and 1e-12 of the free state over 0.01, times the condition of J, below 1e2.
      CHECK(gradient_error(other.gradient, first.gradient) < 1e-6);
    }
  }
}

TEST_CASE("a current of cross-entropy that overshoots is a phase that has diverged", "[estimators]") {
  // Softmax of logits w z has a curvature of the order of |w|^2/2, which saturates as the nudge wins: where it is beta e^(-x) = x for the
  // logit x that the nudge leaves, x = 5 at beta = 1e3. Steps of 0.7 times 5 overshoot; the current is bounded, and the states go to and fro.
  for (const std::string schedule : {"parallel", "sweep"}) {
    CAPTURE(schedule);
    const auto at = [&](const std::string& beta) {
      return learned_from("hopfield",
                          {"hopfield.cost=cross_entropy", "relaxation.schedule=" + schedule, "beta=" + beta}, "ep")
          .report;
    };
    CHECK(at("1e3").diverged == 1);  // both samples, side by side
    CHECK(at("0.1").diverged == 0);
    CHECK(at("0.1").sequences.front().nudged == Status::converged);
  }
}
