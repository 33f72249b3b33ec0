// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sde.hpp"
#include "tests/support/catch.hpp"

#include <boost/numeric/odeint/integrate/integrate_const.hpp>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/settle.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using State = std::vector<double>;

constexpr RngKey kKey{12345, Purpose::sde, 3};

/// Mean over the paths of |x_1 − exact| at t = 1, for steps 1/8 to 1/128, and its slope. Every path is followed with
/// every step. With n paths the mean has a relative error of about 1/√n, largely common to all steps.
template <class Stepper, class Drift, class Diffusion, class Exact>
double strong_order(Drift drift, Diffusion diffusion, Exact exact) {
  constexpr std::size_t paths = 4000;
  State w(paths);
  WienerPath<double>(kKey, 1.0).increment(0, 1.0, w);
  std::vector<double> steps;
  std::vector<double> errors;
  for (int n = 8; n <= 128; n *= 2) {
    State x(paths, 1.0);
    boost::numeric::odeint::integrate_const(Stepper(WienerPath<double>(kKey, 1.0)), std::make_pair(drift, diffusion), x,
                                            0.0, 1.0, 1.0 / n);
    double sum = 0;
    for (std::size_t i = 0; i < paths; ++i) sum += std::abs(x[i] - exact(w[i]));
    steps.push_back(1.0 / n);
    errors.push_back(sum / paths);
  }
  return order(steps, errors);
}

double variance(const State& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return sum / static_cast<double>(x.size());
}

const auto scaled = [](double factor) {
  return [factor](const State& x, State& out, double /*t*/) {
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = factor * x[i];
  };
};
const auto constant = [](double value) {
  return [value](const State& /*x*/, State& out, double /*t*/) { std::fill(out.begin(), out.end(), value); };
};

/// dz/dt = −θ z + white noise of strength σ per √τ, drawn at every force evaluation as set_read_timing() asks.
class NoisyRelaxation : public SmallDynamics<double> {
 public:
  NoisyRelaxation(Index rows, Index cols, double theta, double sigma)
      : SmallDynamics<double>(rows, cols, [=, this](const Vec<double>& z) -> Vec<double> {
          Vec<double> noise(z.size());
          fill_normal<double>({9, Purpose::read_noise, 0}, static_cast<std::uint64_t>(evaluations), 0,
                              {noise.data(), static_cast<std::size_t>(noise.size())});
          return -theta * z + sigma / std::sqrt(last_reading.relaxation.interval) * noise;
        }) {}
};

}  // namespace

TEST_CASE("A Wiener path does not depend on the step it is looked at with", "[sde]") {
  const RngKey key{7, Purpose::sde, 0};
  constexpr std::size_t n = 1000;
  WienerPath<double> path(key, 0.5);
  State whole(n), part(n), sum(n, 0.0);
  path.increment(1.0, 1.5, whole);
  for (const double dt : {0.5, 0.25, 0.5 / 64}) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (int k = 0; k < std::lround(1.5 / dt); ++k) {
      path.increment(1.0 + k * dt, dt, part);
      for (std::size_t i = 0; i < n; ++i) sum[i] += part[i];
    }
    // Sums of at most 192 numbers of size one, each rounded by eps: 192 · 2.2e-16 · a few.
    for (std::size_t i = 0; i < n; ++i) REQUIRE(std::abs(sum[i] - whole[i]) <= 2e-13);
  }
  // Variance dt at every level and no correlation of neighbours; n = 1000: std of the ratio √(2/n) = 0.045, of the
  // correlation 0.032; five of them are exceeded once in 1.7e6.
  for (const double dt : {0.5, 0.25, 0.125, 0.5 / 64}) {
    State next(n);
    path.increment(2.0, dt, part);
    path.increment(2.0 + dt, dt, next);
    double cross = 0;
    for (std::size_t i = 0; i < n; ++i) cross += part[i] * next[i];
    CHECK(variance(part) / dt == Approx(1).margin(5 * 0.045));
    CHECK(std::abs(cross / double(n) / dt) < 5 * 0.032);
  }
  CHECK_THROWS_AS(path.increment(0, 0.3, part), UserError);
  CHECK_THROWS_AS(path.increment(0.1, 0.5, part), UserError);
  CHECK_THROWS_AS(path.increment(0, -0.5, part), UserError);
}

TEST_CASE("Euler-Maruyama has strong order 1/2 for multiplicative noise", "[sde][order]") {
  // Geometric Brownian motion, Itô: x_1 = exp(μ − σ²/2 + σ W_1). The slope over four octaves is exact to the noise of
  // the ratio of two means, a few per cent, over 4 octaves: 0.02; the next term (order 1) adds up to 0.08.
  const double mu = 0.5, sigma = 0.8;
  const double slope = strong_order<EulerMaruyama<double>>(
      scaled(mu), scaled(sigma), [=](double w) { return std::exp(mu - sigma * sigma / 2 + sigma * w); });
  CHECK(slope == Approx(0.5).margin(0.1));
}

TEST_CASE("Euler-Maruyama has strong order 1 for additive noise", "[sde][order]") {
  // dx = σ dW − x dt has no pathwise closed form; follow each path with a 64 times finer step of Heun, whose error is
  // at least 64 times smaller than that of the finest step tested.
  const double sigma = 0.7;
  constexpr std::size_t paths = 500;
  State reference(paths, 1.0);
  const auto system = std::make_pair(scaled(-1), constant(sigma));
  boost::numeric::odeint::integrate_const(StochasticHeun<double>(WienerPath<double>(kKey, 1.0)), system, reference, 0.0,
                                          1.0, 1.0 / 4096);
  std::vector<double> steps, errors;
  for (int n = 4; n <= 64; n *= 2) {
    State x(paths, 1.0);
    boost::numeric::odeint::integrate_const(EulerMaruyama<double>(WienerPath<double>(kKey, 1.0)), system, x, 0.0, 1.0,
                                            1.0 / n);
    double sum = 0;
    for (std::size_t i = 0; i < paths; ++i) sum += std::abs(x[i] - reference[i]);
    steps.push_back(1.0 / n);
    errors.push_back(sum / double(paths));
  }
  CHECK(order(steps, errors) == Approx(1).margin(0.1));
}

TEST_CASE("Heun has strong order 1 for multiplicative Stratonovich noise", "[sde][order]") {
  // Stratonovich: x_1 = exp(μ + σ W_1). The same tolerance as for Euler–Maruyama.
  const double mu = 0.5, sigma = 0.8;
  const double slope = strong_order<StochasticHeun<double>>(scaled(mu), scaled(sigma),
                                                            [=](double w) { return std::exp(mu + sigma * w); });
  CHECK(slope == Approx(1).margin(0.1));
}

TEST_CASE("The Ornstein-Uhlenbeck variance does not depend on the step", "[sde]") {
  const double theta = 1.3, sigma = 0.4;
  constexpr std::size_t n = 40000;
  // The sample variance of n normals has relative std √(2/n) = 0.0071; 4.4 of them are exceeded once in 9e4 checks.
  const double margin = 4.4 * std::sqrt(2.0 / n);
  const double exact = sigma * sigma / (2 * theta);
  for (const double dt : {1.0 / 4, 1.0 / 16, 1.0 / 64}) {
    CAPTURE(dt);
    const auto system = std::make_pair(scaled(-theta), constant(sigma));
    State x(n, 0.0);
    // From 0 the variance reaches its limit to exp(−2 θ 4) = 3e-5.
    boost::numeric::odeint::integrate_const(EulerMaruyama<double>(WienerPath<double>(kKey, dt)), system, x, 0.0, 4.0,
                                            dt);
    // The recursion x ← (1 − θ dt) x + σ √dt N has exactly this stationary variance.
    CHECK(variance(x) / exact == Approx(1 / (1 - theta * dt / 2)).epsilon(margin));
    std::fill(x.begin(), x.end(), 0.0);
    boost::numeric::odeint::integrate_const(StochasticHeun<double>(WienerPath<double>(kKey, dt)), system, x, 0.0, 4.0,
                                            dt);
    const double h = theta * dt;
    const double keep = 1 - h + h * h / 2;
    CHECK(variance(x) / exact == Approx(2 * h * (1 - h / 2) * (1 - h / 2) / (1 - keep * keep)).epsilon(margin));
  }
}

TEST_CASE("Read noise in settle() is a stochastic differential equation", "[sde][settle]") {
  const double theta = 1.3, sigma = 0.4;
  const Index rows = 100, cols = 200;
  const double margin = 4.4 * std::sqrt(2.0 / double(rows * cols));  // false alarm once in 9e4 checks
  for (const double step : {0.2, 0.05}) {
    for (const SettleSolver solver : {SettleSolver::euler, SettleSolver::rk4}) {
      CAPTURE(step, to_string(solver));
      NoisyRelaxation system(rows, cols, theta, sigma);
      Matrix<double> z = Matrix<double>::Zero(rows, cols);
      SettleWorkspace<double> scratch;
      const auto steps = static_cast<int>(std::lround(4 / step));
      settle<double>(system, z, {.solver = solver, .step = step, .max_steps = steps}, scratch);
      const double h = theta * step;
      double factor = 1 / (1 - h / 2);
      if (solver == SettleSolver::rk4) {
        // Linear stages: noise n_i enters with 1/6 (1 − h + h²/2 − h³/4), 1/3 (1 − h/2 + h²/4), 1/3 (1 − h/2), 1/6.
        const double keep = 1 - h + h * h / 2 - h * h * h / 6 + h * h * h * h / 24;
        const double a = (1 - h + h * h / 2 - h * h * h / 4) / 6, b = (1 - h / 2 + h * h / 4) / 3, c = (1 - h / 2) / 3;
        factor = 2 * h * 3.6 * (a * a + b * b + c * c + 1.0 / 36) / (1 - keep * keep);
      }
      const double expected = sigma * sigma / (2 * theta) * factor;
      CHECK(z.squaredNorm() / double(rows * cols) / expected == Approx(1).epsilon(margin));
    }
  }
}
