// SPDX-License-Identifier: Apache-2.0
// Interval and duration of the reads of a step: stationary variance and decay of the linear part are right at any step.
#include "sim/read_timing.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "sim/settle.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// dz/dt = −θ z + white noise of strength σ per √τ that knows its leak; adds up the durations of its reads.
class LeakyNode : public SmallDynamics<double> {
 public:
  LeakyNode(Index rows, Index cols, double theta, double sigma)
      : SmallDynamics<double>(
            rows, cols,
            [=, this](const Vec<double>& z) -> Vec<double> {
              duration_sum += last_reading.relaxation.duration;
              Vec<double> f = -theta * z;
              if (sigma == 0) return f;
              Vec<double> noise(z.size());
              fill_normal<double>({9, Purpose::read_noise, 0}, static_cast<std::uint64_t>(evaluations), 0,
                                  {noise.data(), static_cast<std::size_t>(noise.size())});
              return f + sigma / std::sqrt(last_reading.relaxation.interval) * noise;
            },
            [=](const Vec<double>& z) -> Dense<double> {
              return -theta * Dense<double>::Identity(z.size(), z.size());
            }),
        theta_(theta) {}
  DynamicsTraits<double> traits() const override { return {.leak = theta_}; }
  double duration_sum = 0;

 private:
  double theta_;
};

}  // namespace

TEST_CASE("read timing: an Ornstein-Uhlenbeck node has its stationary variance at every step", "[timing][statistics]") {
  const double theta = 1.3, sigma = 0.4;
  const Index rows = 200, cols = 400;
  // The sample variance of n normals has the relative standard deviation √(2/n) = 0.5 %; 4.4 of them are exceeded once in
  // 9e4 checks. Started at 0, 6/θ before the end: e^{−12} = 6e-6 of the variance is missing.
  const double margin = 4.4 * std::sqrt(2.0 / double(rows * cols));
  const auto variance = [&](SettleSolver solver, double step, const Motion& motion) {
    LeakyNode node(rows, cols, theta, sigma);
    Matrix<double> z = Matrix<double>::Zero(rows, cols);
    SettleWorkspace<double> scratch;
    const auto steps = static_cast<int>(std::ceil(6 / (theta * std::min(step, 0.7 / theta))));
    settle<double>(node, z, {.solver = solver, .step = step, .max_steps = steps, .motion = motion}, scratch);
    return z.squaredNorm() / double(rows * cols);
  };
  const double exact = sigma * sigma / (2 * theta);
  for (const double share : {0.05, 0.35, 0.7, 0.9, 1.3}) {
    CAPTURE(share);
    CHECK(variance(SettleSolver::euler, share / theta, {}) / exact == Approx(1).epsilon(margin));
    CHECK(variance(SettleSolver::rk4, share / theta, {}) / exact == Approx(1).epsilon(margin));
    // The pole of an amplifier does not change it (equipartition), fast, as fast as the step, or oscillating with the leak.
    for (const double lag : {0.02, 0.15, 0.4}) {
      CAPTURE(lag);
      CHECK(variance(SettleSolver::euler, share / theta, Motion::of_amplifiers(lag)) / exact ==
            Approx(1).epsilon(margin));
    }
  }
}

TEST_CASE("read timing: friction divides the variance of a node, its mass does not", "[timing][statistics]") {
  // M d²z/dt² + Γ dz/dt = −θ z + σξ has the stationary variance σ²/2Γθ (equipartition). Started at rest, as above; the slowest mode of these
  // decays by Γ/2M ≥ 0.375 or more, and its square by e^{−12} within the time that is taken.
  const double theta = 1.3, sigma = 0.4;
  const Index rows = 200, cols = 400;
  const double margin = 4.4 * std::sqrt(2.0 / double(rows * cols));
  for (const Motion& motion : {Motion::critical(), Motion{1, {0.75}}, Motion{0.5, {4}}}) {
    const double gamma = motion.friction.front(), step = motion.step_like(0.5 / theta);
    CAPTURE(motion.mass, gamma);
    LeakyNode node(rows, cols, theta, sigma);
    Matrix<double> z = Matrix<double>::Zero(rows, cols);
    SettleWorkspace<double> scratch;
    const SettleOptions options{
        .solver = SettleSolver::second_order, .step = step, .max_steps = static_cast<int>(30 / step), .motion = motion};
    settle<double>(node, z, options, scratch);
    CHECK(z.squaredNorm() / double(rows * cols) * 2 * gamma * theta / (sigma * sigma) == Approx(1).epsilon(margin));
  }
}

TEST_CASE("read timing: a step lasts as long as the circuit takes for it", "[timing]") {
  for (const double share : {0.05, 0.35, 0.7, 0.9}) {
    CAPTURE(share);
    LeakyNode node(1, 1, 1.3, 0);
    Matrix<double> z = Matrix<double>::Ones(1, 1);
    SettleWorkspace<double> scratch;
    const SettleOptions options{.step = share / 1.3, .max_steps = 7, .final_residual = false};
    const SettleResult result = settle<double>(node, z, options, scratch);
    // z after the simulated time, to the rounding of seven steps and of an exponential.
    CHECK(z(0, 0) == Approx(std::exp(-1.3 * result.time)).epsilon(1e-13));
    CHECK(node.duration_sum == Approx(result.time).epsilon(1e-14));
  }
  // εL = 1 leaves nothing: 8 bits. Beyond, as much as is left, turned around.
  CHECK(euler_timing(0.5, 2).duration == Approx(std::log(256.0) / 2));
  CHECK(euler_timing(1.3, 1).duration == Approx(-std::log(0.3)));
  // No leak, or one that makes steps diverge: a step is its own time.
  CHECK(euler_timing(0.3, 0).interval == 0.3);
  CHECK(euler_timing(0.3, 0).duration == 0.3);
  CHECK(euler_timing(2.1, 1).interval == 2.1);
  // Small steps: Δ = ε (1 + εL/2 + ...), h the same to first order.
  CHECK(euler_timing(1e-4, 1.3).interval / 1e-4 == Approx(1 + 0.65e-4).epsilon(1e-8));
  CHECK(euler_timing(1e-4, 1.3).duration / 1e-4 == Approx(1 + 0.65e-4).epsilon(1e-8));
  CHECK(rk4_timing(1e-4, 1.3).interval / 1e-4 == Approx(1 / 3.6).epsilon(1e-4));
  CHECK(rk4_timing(0.3, 0).interval == 0.3 / 3.6);
  CHECK(4 * rk4_timing(0.3, 1.3).duration == Approx(0.3));
}

TEST_CASE("read timing: with amplifiers a step lasts as long as its slowest mode says", "[timing]") {
  const double leak = 1.3, step = 0.35;
  CHECK(euler_timing(step, leak, Motion::of_amplifiers(1e-6)).duration ==
        Approx(euler_timing(step, leak).duration).epsilon(1e-5));
  CHECK(euler_timing(step, leak, Motion::of_amplifiers(1e-6)).interval ==
        Approx(euler_timing(step, leak).interval).epsilon(1e-5));
  CHECK(euler_timing(step, leak, Motion::of_amplifiers(3)).duration == Approx(step).epsilon(1e-12));  // both oscillate
  // The mode itself: iterate the scheme of sim/mover.hpp, compare its decay per step with the circuit's.
  for (const double lag : {0.02, 0.1}) {
    const double share = -std::expm1(-step / lag);
    double z = 1, y = 0, before = 1;
    for (int n = 0; n < 40; ++n) {
      before = z;
      y += share * (-leak * z - y);
      z += step * y;
    }
    const double rate = (1 - std::sqrt(1 - 4 * lag * leak)) / (2 * lag);
    CHECK(euler_timing(step, leak, Motion::of_amplifiers(lag)).duration ==
          Approx(-std::log(z / before) / rate).epsilon(1e-6));
  }
}

TEST_CASE("read timing: durations add up to the simulated time of every solver", "[timing]") {
  for (const SettleSolver solver : settle_solvers()) {
    CAPTURE(to_string(solver));
    LeakyNode node(2, 3, 1.3, 0);
    Matrix<double> z = Matrix<double>::Ones(2, 3);
    SettleWorkspace<double> scratch;
    const SettleOptions options{.solver = solver, .step = 0.4, .max_steps = 9, .final_residual = false};
    const SettleResult result = settle<double>(node, z, options, scratch);
    const bool circuit = steps_in_time(solver) || solver == SettleSolver::rk4 || solver == SettleSolver::dopri5;
    CHECK((result.time > 0) == circuit);

    CHECK(node.duration_sum == Approx(result.time).epsilon(1e-12));
  }
}
