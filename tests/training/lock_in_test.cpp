// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/lock_in.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <complex>
#include <numbers>

#include "sim/base/errors.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/test_dynamics.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/config_table.hpp"
#include "training/learning/cost.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

constexpr double kPi = std::numbers::pi;
using Complex = std::complex<double>;

/// Eight nodes with J = −1 + W, W not symmetric and of spectral norm about .6: rates between .4 and 1.6.
struct LinearCase {
  Dense<double> j = -Dense<double>::Identity(8, 8) + 0.1 * random_dense<double>(8, 8, 3);
  Vec<double> g = random_dense<double>(8, 1, 4).col(0);

  /// −Re e^{−iφ} c (J − s)⁻¹ g, as a real system of twice the size.
  Vec<double> response(const Dense<double>& of, Complex s, Complex c) const {
    Dense<double> both(16, 16);
    const Dense<double> one = Dense<double>::Identity(8, 8);
    both << of - s.real() * one, s.imag() * one, -s.imag() * one, of - s.real() * one;
    Vec<double> right(16);
    right << c.real() * g, c.imag() * g;
    return -solution(both, right).col(0).head(8);
  }

  Vec<double> estimated(const char* name, EstimatorOptions options, SequenceReport* report = nullptr,
                        SampleHold<double>* hold = nullptr) const {
    auto dynamics = linear_system<double>(2, 4, j, random_dense<double>(8, 1, 5).col(0));
    LinearCost<double> cost;
    Matrix<double> direction(2, 4), z(2, 4), unused = Matrix<double>::Zero(2, 4);
    Eigen::Map<Vec<double>>(direction.data(), 8) = g;
    Eigen::Map<Vec<double>>(z.data(), 8) = random_dense<double>(8, 1, 5).col(0);  // the root: at rest
    cost.bind(direction);
    Gradient<double> gradient;
    Example<double> example{&dynamics, &cost, &z, &unused, 1.0, &gradient};
    example.hold = hold;
    options.free.max_steps = 0;
    const auto estimator = make_estimator<double>(name, options);
    const SequenceReport found = estimator->estimate(example);
    if (report != nullptr) *report = found;
    Vec<double> a(8);
    Eigen::Map<Matrix<double>>(a.data(), 2, 4) = estimator->adjoint();
    return a;
  }
};

EstimatorOptions swinging(double frequency, double step) {
  EstimatorOptions options;
  options.step = options.free.step = step;
  options.beta = 0.1;
  // Six periods of ω ≤ .5 are 75 τ; what is left of switching on, e^{−.4·75} = 1e-13.
  options.oscillation = {NudgeForm::oscillating, frequency, 2, 6};
  return options;
}

/// ω as rounded to whole steps.
double rounded(double frequency, double step) {
  return 2 * kPi / (static_cast<double>(std::lround(2 * kPi / (frequency * step))) * step);
}

/// A lock-in of whole periods that sees v(θ) at once: its output over what it is a slope of.
template <class State>
double read_at_once(int harmonic, double phase_error, State v) {
  LockIn<double> lock_in;
  lock_in.start({NudgeForm::oscillating, 0.01, 3, 1, harmonic, 0, phase_error}, 1, 1, 1);
  for (int n = 0; n < lock_in.steps(); ++n)
    lock_in.take(n, Matrix<double>::Constant(1, 1, v(lock_in.frequency() * (n + 1))));
  return lock_in.output()(0, 0);
}

}  // namespace

TEST_CASE("a lock-in reads the slope of odd powers up to its harmonic, and nothing that stands still or is even",
          "[lock_in]") {
  const double beta = 0.7;
  const auto power = [&](int m) { return [=](double theta) { return std::pow(beta * std::sin(theta), m); }; };
  for (const int harmonic : {1, 3, 5}) {
    for (int m = 0; m <= harmonic + 1; ++m) {
      CAPTURE(harmonic, m);
      // 1884 terms of a sum of size one: 1e-16·1884·5 at most.
      CHECK(read_at_once(harmonic, 0, power(m)) == Approx(m == 1 ? beta : 0).margin(1e-12));
    }
  }
  CHECK(read_at_once(1, 0, power(3)) == Approx(0.75 * beta * beta * beta).margin(1e-12));  // sin³ = (3 sin − sin 3)/4
  CHECK(read_at_once(1, 0.3, power(1)) == Approx(beta * std::cos(0.3)).margin(1e-12));
}

TEST_CASE("a low-pass behind the product leaves the ripple of its time constant", "[lock_in]") {
  LockIn<double> lock_in;
  const double tau = 40;
  lock_in.start({NudgeForm::oscillating, 0.1, 40, 0, 1, tau}, 0.1, 1, 1);
  for (int n = 0; n < lock_in.steps(); ++n)
    lock_in.take(n, Matrix<double>::Constant(1, 1, std::sin(lock_in.frequency() * 0.1 * (n + 1))));
  // 2 sin² = 1 − cos 2ωt; the last sample is at the end of a period, the one m before it has the weight q^m, q = e^{−h/τ_c}, and the
  // phase −2ωhm: what is left is Re (1 − q)/(1 − q e^{−2iωh}), 1/(1 + (2ωτ_c)²) for small steps. Of the beginning e^{−63}.
  const double q = std::exp(-0.1 / tau);
  const double ripple = ((1 - q) / (1.0 - q * std::polar(1.0, -2 * lock_in.frequency() * 0.1))).real();
  CHECK(lock_in.output()(0, 0) == Approx(1 - ripple).margin(1e-12));
  CHECK(ripple > 1e-2);
}

TEST_CASE("white noise in a node leaves twice its spectral density over the time that is listened to", "[lock_in]") {
  // z ← (1 − ε) z + ε ξ has the density S = ε² h/|e^{iωh} − (1 − ε)|² per τ. 4000 nodes: their variance is known to √(2/4000) = 2.2 %,
  // five of which are 11 %; ends of the 4 periods of 63 τ beside a memory of 1 τ, another 1/126.
  const double step = 0.5, omega = 0.1;
  LockIn<double> lock_in;
  lock_in.start({NudgeForm::oscillating, omega, 4, 1}, step, 1, 4000);
  Matrix<double> z = Matrix<double>::Zero(1, 4000);
  for (int n = 0; n < lock_in.steps(); ++n) {
    z += step * (random_matrix<double>(1, 4000, static_cast<std::uint64_t>(n + 1)) - z);
    lock_in.take(n, z);
  }
  const double turned = lock_in.frequency() * step;
  const double density = step * step * step / std::norm(std::polar(1.0, turned) - (1 - step));
  const double expected = 2 * density / (lock_in.listened() * step);
  CHECK(lock_in.output().squaredNorm() / 4000 == Approx(expected).epsilon(0.12));
}

TEST_CASE("the lock-in of a linear circuit is the response of its steps at that frequency", "[lock_in]") {
  const LinearCase task;
  for (const double phase_error : {0.0, 0.4}) {
    EstimatorOptions options = swinging(0.5, 0.2);
    options.oscillation.phase_error = phase_error;
    const double turned = rounded(0.5, 0.2) * 0.2;
    // v(n + 1) = v(n) + ε (J v − β sin(ω(n + ½)h) g): v = Im V e^{iωhn}, V = (J − (e^{iωh} − 1)/ε)⁻¹ β e^{iωh/2} g.
    const Complex s = (std::polar(1.0, turned) - 1.0) / 0.2, c = std::polar(1.0, turned / 2 - phase_error);
    // Rounding 1e-16 of z ~ 1 over β = .1 and the transient, 1e-13 (swinging()).
    CHECK((task.estimated("ep", options) - task.response(task.j, s, c)).norm() < 1e-10);
    CHECK((task.estimated("aep", options) - task.response(task.j.transpose(), s, c)).norm() < 1e-10);
    CHECK((task.estimated("aep_anchored", options) - task.response(task.j.transpose(), s, c)).norm() < 1e-10);
    CHECK((task.estimated("aep", options) - task.response(task.j, s, c)).norm() > 1e-2);  // J is not symmetric
  }
}

TEST_CASE("offsets of the holds whose samples a lock-in multiplies leave nothing, their noise falls with the samples",
          "[lock_in]") {
  const LinearCase task;
  const EstimatorOptions options = swinging(0.5, 0.2);
  const Vec<double> exact = task.estimated("ep", options);
  const ReadContext read;
  HoldSpec spec;
  spec.offset = 0.5;  // of states of size 1: five times the nudge
  SampleHold<double> offset(2, Matrix<double>::Ones(1, 4), spec, 7, read);
  // z* is held too, and the phase starts beside the root by the offset: e^{−.4·75} = 1e-13 of it is left, over β = .1.
  CHECK((task.estimated("ep", options, nullptr, &offset) - exact).norm() < 1e-10);
  // d = (2/N) Σ sin θ_n ξ_n has the variance 2 s²/N, N = 2 periods of 63 steps. 8 nodes of 40 seeds: √(2/320) = 8 %, four of which are 32 %.
  spec.offset = 0;
  spec.noise = 0.01;
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    ReadContext other;
    other.seed = seed;
    SampleHold<double> noisy(2, Matrix<double>::Ones(1, 4), spec, seed, other);
    squares += (options.beta * (task.estimated("ep", options, nullptr, &noisy) - exact)).squaredNorm() / 320;
  }
  CHECK(squares == Approx(2 * 1e-4 / 126).epsilon(0.32));
}

TEST_CASE("with small steps the lock-in reads what the estimator of frequencies computes, to the order of their steps",
          "[lock_in]") {
  const LinearCase task;
  std::vector<double> errors, steps{0.4, 0.2, 0.1};
  for (const double step : steps) {
    EstimatorOptions options = swinging(0.5, step), still = options;
    still.error_frequency = rounded(0.5, step);
    still.oscillation = {};
    const Vec<double> heard = task.estimated("ep", options);
    errors.push_back((heard - task.estimated("frequency", still)).norm());
    // In time, with inputs that stand still, it is that lock-in, by other sums of the same numbers.
    options.error_frequency = 0.5;
    CHECK((heard - task.estimated("frequency", options)).norm() < 1e-11);
  }
  // (e^{iωh} − 1)/h = iω − ω²h/2 + ...: of Euler's steps; the next term is smaller by ωh/3 < .07.
  CHECK(order_of_convergence(errors, steps) == Approx(1.0).margin(0.15));
}

TEST_CASE("a clamp that steps follow exactly is read to second order in the step", "[lock_in]") {
  // z ← (1 − ε) z + ε u is that of dz/dt = u − z over h = −ln(1 − ε): amplitude Re sinh(h/2)/sinh((1 + iω)h/2), against 1/(1 + ω²).
  const double omega = 0.5;
  std::vector<double> errors, lengths;
  for (const double h : {0.4, 0.2, 0.1}) {
    const double step = -std::expm1(-h);
    LockIn<double> lock_in;
    lock_in.start({NudgeForm::oscillating, omega, 2, 8}, h, 1, 1);
    Matrix<double> z = Matrix<double>::Zero(1, 1);
    for (int n = 0; n < lock_in.steps(); ++n) {
      z(0, 0) += step * (lock_in.drive(n) - z(0, 0));
      lock_in.take(n, z);
    }
    const Complex half = std::sinh(Complex(1, lock_in.frequency()) * (h / 2));
    // Eight periods of 12.6 τ: nothing is left of switching on.
    CHECK(lock_in.output()(0, 0) == Approx((std::sinh(h / 2) / half).real()).margin(1e-12));
    errors.push_back(std::abs(lock_in.output()(0, 0) - 1 / (1 + lock_in.frequency() * lock_in.frequency())));
    lengths.push_back(h);
  }
  CHECK(order_of_convergence(errors, lengths) == Approx(2.0).margin(0.05));
}

TEST_CASE("harmonics take the order of a finite nudge as complex nudges do", "[lock_in]") {
  // A node with z = tanh(z/2) + 1 − β: z(β) for a complex β by Newton's method.
  const auto settled = [](Complex beta) {
    Complex z = 1.7;
    for (int n = 0; n < 60; ++n) {
      const Complex t = std::tanh(0.5 * z);
      z -= (z - t - 1.0 + beta) / (1.0 - 0.5 * (1.0 - t * t));
    }
    return z;
  };
  const double star = settled(0).real(), slope = -1 / (1 - 0.5 * (1 - std::pow(std::tanh(0.5 * star), 2)));
  const std::vector<double> betas{0.1, 0.05, 0.025};
  const auto order = [&](const auto& error) {
    std::vector<double> errors;
    for (const double beta : betas) errors.push_back(std::abs(error(beta)));
    return order_of_convergence(errors, betas);
  };
  for (const int harmonic : {1, 3}) {
    CAPTURE(harmonic);
    const double measured = order([&](double beta) {
      return read_at_once(harmonic, 0, [&](double t) { return settled(beta * std::sin(t)).real() - star; }) / beta -
             slope;
    });
    // The next term is smaller by β² ≤ .01 times a ratio of coefficients of order one.
    CHECK(measured == Approx(harmonic + 1).margin(0.3));
  }
  // Laborieux & Zenke (arXiv:2209.00530), equation 11, of N nudges |β| e^{2πik/N}: its error is of order β^N.
  const double holomorphic = order([&](double beta) {
    Complex sum = 0;
    for (int k = 0; k < 4; ++k) {
      const Complex turn = std::polar(1.0, kPi / 2 * k);
      sum += settled(beta * turn) / turn;
    }
    return sum.real() / (4 * beta) - slope;
  });
  CHECK(holomorphic == Approx(4).margin(0.3));
}

TEST_CASE("an oscillating phase says how long it took and what it moved", "[lock_in]") {
  const LinearCase task;
  SequenceReport report;
  const Vec<double> a = task.estimated("ep", swinging(0.5, 0.2), &report);
  CHECK(report.nudged_time == Approx(8 * 2 * kPi / rounded(0.5, 0.2)));  // leak unknown: a step lasts ε
  CHECK(report.nudged == Status::converged);
  CHECK(report.nudged_residual < 1e-9);
  CHECK(report.nudge_ratio == Approx(0.1 * a.norm() / random_dense<double>(8, 1, 5).norm()).epsilon(1e-9));
  EstimatorOptions short_one = swinging(0.05, 0.2);
  short_one.oscillation.settling = 0;
  short_one.oscillation.periods = 1;
  static_cast<void>(task.estimated("ep", short_one, &report));
  CHECK(report.nudged == Status::max_steps);  // one period alone cannot tell
}

TEST_CASE("an oscillating nudge is refused where it cannot swing, and its keys where nothing reads them", "[lock_in]") {
  const auto refused = [](std::vector<std::string> settings, const char* why) {
    CAPTURE(settings);
    CHECK_THROWS_WITH(small("hopfield", std::move(settings)), Contains(why));
  };
  refused({"nudge.form=oscillating", "relaxation.schedule=sweep", "relaxation.step=1"}, "whose steps have no duration");
  refused({"nudge.form=oscillating", "nudge.frequency=2", "relaxation.step=0.5"}, "must be at most 1.57");
  refused({"nudge.form=oscillating", "nudge.harmonic=2"}, "must be odd");
  refused({"nudge.form=swinging"}, "oscillating");
  const auto unread = [](std::vector<std::string> settings, const char* why) {
    CAPTURE(settings);
    CHECK_THROWS_WITH(expect_keys_read(small("hopfield", std::move(settings))), Contains(why));
  };
  unread({"nudge.periods=3"}, "nudge.form = static; oscillating would");
  unread({"nudge.form=oscillating", "nudge.sides=positive", "gradcheck.estimators=[\"ep\"]"}, "static would");
  CHECK_THROWS_WITH(expect_training_reads(small("hopfield", {"estimator=ep_contrastive", "nudge.form=oscillating"})),
                    Contains("nothing reads it: estimator = ep_contrastive"));
  LockIn<double> lock_in;
  CHECK_THROWS_WITH(lock_in.start({NudgeForm::oscillating, 1.0, 1, 1}, 1.0, 1, 1), Contains("is too fast"));
}
