// SPDX-License-Identifier: Apache-2.0
// Nudged phases as systems that settle() relaxes: by every solver.
#include "tests/support/catch.hpp"
#include "tests/support/tiny_model.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Steps after which a phase is settled to rounding: its slowest mode decays by less than 0.9 a step (estimators_test.cpp).
constexpr int kSettled = 400;

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
