// SPDX-License-Identifier: Apache-2.0
// The verdict on states of linear systems, whose equilibria are known.
#include "sim/equilibrium.hpp"
#include "tests/support/catch.hpp"

#include <complex>

#include "tests/support/numerics.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// F = A (z − 1) of two samples of two units each, that do not know of each other.
SmallDynamics<double> two_samples(const Dense<double>& one, const Dense<double>& other) {
  Dense<double> a = Dense<double>::Zero(4, 4);
  a.topLeftCorner(2, 2) = one;
  a.bottomRightCorner(2, 2) = other;
  return linear_system<double>(2, 2, a, Vec<double>::Ones(4));
}

Dense<double> turning(double growth, double omega) {
  Dense<double> a(2, 2);
  a << growth, -omega, omega, growth;
  return a;
}

Equilibrium judged(Dynamics<double>& dynamics, const Matrix<double>& z, double lag = 0) {
  SettleResult phase;
  phase.residual = 0.2;
  phase.decay = 0.5;
  phase.steps = 1;
  return judge_point(dynamics, z, false, phase, Motion::of_amplifiers(lag));
}

}  // namespace

TEST_CASE("samples have settled within a hundredth of their equilibria, whatever |F|/|z|", "[equilibrium]") {
  auto dynamics = two_samples(turning(-1, 0.5), turning(-1e-3, 0));  // the second is slow: its force is small anywhere
  Matrix<double> z = Matrix<double>::Ones(2, 2);
  CHECK(judged(dynamics, z).settled == 1);
  z.row(1) *= 0.995;
  CHECK(judged(dynamics, z).settled == 1);
  z.row(1) *= 0.98;
  const Equilibrium off = judged(dynamics, z);  // |F|/|z| = 2.6e-5 there
  CHECK(off.settled == 0.5);
  CHECK(off.lost == 0);
  z.row(1) *= 0.5;
  CHECK(judged(dynamics, z).lost == 0.5);
  CHECK(judged(dynamics, z).sound());
  CHECK(off.unstable == 0);
  CHECK(off.abscissa == Approx(-1e-3).margin(1e-6));  // of the slow one, to whose stable equilibrium more steps lead
  CHECK(off.samples == 2);
}

TEST_CASE("a state that runs away has not settled, however small the force beside it", "[equilibrium]") {
  const auto constant = [](const Vec<double>&) { return Vec<double>(Vec<double>::Ones(4)); };
  SmallDynamics<double> dynamics(2, 2, constant,
                                 [](const Vec<double>&) { return Dense<double>(Dense<double>::Zero(4, 4)); });
  const Equilibrium found = judged(dynamics, Matrix<double>::Constant(2, 2, 1e9));
  CHECK(found.settled == 0);
  CHECK(found.none == 1);
  CHECK_FALSE(found.sound());
  CHECK_THAT(sentence(found), Catch::StartsWith("no equilibrium"));
  auto growing = two_samples(turning(1, 0), turning(1, 0));
  CHECK(judged(growing, Matrix<double>::Constant(2, 2, 1e9)).lost == 1);
}

TEST_CASE("a state whose way GMRES cannot tell in its products is judged by the contraction of its phase",
          "[equilibrium]") {
  // 200 modes from 1e-3 to 1e3 per tau, all driven alike: 60 products resolve those above about 1e3/30^2, half of them, and leave 0.7.
  Vec<double> rates(200);
  for (Index i = 0; i < 200; ++i) rates(i) = std::pow(10.0, -3 + 6.0 * static_cast<double>(i) / 199);
  auto spread = linear_system<double>(1, 200, Dense<double>((-rates).asDiagonal()), Vec<double>::Ones(200));
  Matrix<double> z = Matrix<double>::Ones(1, 200);
  z.array() += 1e-6 / rates.transpose().array();
  SettleResult phase;
  phase.steps = 60;
  phase.time = 0.3 * 60;
  phase.decay = std::exp(-0.3 * 1e-3);  // of the slowest mode
  phase.residual = 1e-6;
  CHECK(judge_point(spread, z, false, phase).settled == 1);  // 0.3 * 1e-6/(0.3 * 1e-3) = 1e-3 of |z| is left to go
  phase.residual = 0.05;                                     // 50 times |z|
  CHECK(judge_point(spread, z, false, phase).none == 1);
  phase.decay = 0;  // unknown
  CHECK(judge_point(spread, z, false, phase).none == 1);
}

TEST_CASE("an equilibrium is unstable where perturbations grow, and amplifiers are part of it", "[equilibrium]") {
  auto one = two_samples(turning(0.2, 1), turning(-0.2, 1));
  const Matrix<double> z = Matrix<double>::Ones(2, 2);
  const Equilibrium found = judged(one, z);
  CHECK(found.unstable == 0.5);
  CHECK(found.abscissa == Approx(0.2).margin(1e-6));
  CHECK_THAT(sentence(found), Catch::Contains("unstable: 50 % of the samples"));
  // λ (1 + τ_a λ) = −1 ± 2i crosses the axis at τ_a = 1/4.
  auto fast = two_samples(turning(-1, 2), turning(-1, 1));
  CHECK(judged(fast, z, 0.24).unstable == 0);
  CHECK(judged(fast, z, 0.26).unstable == 0.5);
}

namespace {

/// States that are off their equilibria, as a phase leaves them that neither grows nor shrinks by much.
Equilibrium unsettled(Dynamics<double>& dynamics, const Matrix<double>& z, double lag = 0,
                      Status status = Status::oscillating) {
  SettleResult phase;
  phase.status = status;
  phase.residual = 1.5;
  phase.decay = 0.99;
  phase.steps = 400;
  return judge_point(dynamics, z, false, phase, Motion::of_amplifiers(lag));
}

}  // namespace

TEST_CASE("a circuit past its Hopf point is told unstable though its phase goes round and settles nowhere",
          "[equilibrium]") {
  // λ (1 + τ_a λ) = −1 ± 2i crosses the axis at τ_a = 1/4.
  auto ring = two_samples(turning(-1, 2), turning(-1, 1));
  Matrix<double> z(2, 2);
  z << 1.9, 0.4, 1, 1;  // the second has settled at 1, where it is stable up to τ_a = 1
  Equilibrium past = unsettled(ring, z, 0.3);
  past.keys = mending_keys();
  CHECK(past.settled == 0.5);
  CHECK(past.unstable == 0.5);
  const std::complex<double> root = (std::sqrt(1.0 + 4 * 0.3 * std::complex<double>(-1, 2)) - 1.0) / 0.6;
  CHECK(past.abscissa == Approx(root.real()).margin(1e-6));  // Arnoldi's space of 4 is the whole
  CHECK_THAT(sentence(past), Catch::StartsWith("unstable: 50 % of the samples end at or around an equilibrium") &&
                                 Catch::Contains("circuit.gain_bandwidth"));
  CHECK(unsettled(ring, z, 0.2).unstable == 0);
  CHECK(unsettled(ring, z, 0.2).settled == 0.5);
  z.row(0) *= 1e5;  // run away, as linear systems do
  CHECK(unsettled(ring, z, 0.3, Status::diverged).unstable == 0.5);
  CHECK(unsettled(ring, z, 0.3, Status::diverged).none == 1);
}

TEST_CASE("a limit cycle goes round an unstable equilibrium, a state between two stable ones is on its way",
          "[equilibrium]") {
  // dζ/dt = (1/2 + 2i − |ζ|²) ζ: unstable at 0, a cycle of radius √(1/2).
  SmallDynamics<double> cycle(
      1, 2,
      [](const Vec<double>& z) {
        const double a = 0.5 - z.squaredNorm();
        return Vec<double>{{a * z(0) - 2 * z(1), 2 * z(0) + a * z(1)}};
      },
      [](const Vec<double>& z) {
        const double a = 0.5 - z.squaredNorm();
        Dense<double> j(2, 2);
        j << a - 2 * z(0) * z(0), -2 - 2 * z(0) * z(1), 2 - 2 * z(0) * z(1), a - 2 * z(1) * z(1);
        return j;
      });
  Matrix<double> z(1, 2);
  z << std::sqrt(0.5), 0;
  const Equilibrium round = unsettled(cycle, z);
  CHECK(round.settled == 0);
  CHECK(round.unstable == 1);
  CHECK(round.abscissa == Approx(0.5).margin(1e-3));  // at a point of Newton's method within 1e-6 of 0.7, F being cubic
  CHECK_FALSE(round.sound());

  // F = z − z³ of every unit: 0.2 goes to 1, though Newton's method finds the 0 that it leaves.
  SmallDynamics<double> latch(
      1, 2, [](const Vec<double>& x) { return Vec<double>(x.array() - x.array().cube()); },
      [](const Vec<double>& x) { return Dense<double>((1 - 3 * x.array().square()).matrix().asDiagonal()); });
  z << 0.2, 0.2;
  CHECK(unsettled(latch, z).unstable == 0);
  z.setZero();
  CHECK(unsettled(latch, z).unstable == 1);  // it rests there
}

TEST_CASE("as many steps as the sentence names bring a phase to its equilibrium, and no number is named without one",
          "[equilibrium]") {
  // Euler steps of 1/2 from (4, -2): each multiplies the distance by |1 + λ/2|, while the force turns and |z| moves.
  constexpr double step = 0.5;
  const auto walked = [&](SmallDynamics<double>& dynamics, int steps, SettleResult& phase) {
    Matrix<double> z(2, 2), f(2, 2);
    z << 4, -2, 4, -2;
    for (int k = 0; k < steps; ++k) {
      dynamics.force(z, f, Part::all);
      z += step * f;
    }
    dynamics.force(z, f, Part::all);
    phase.steps = steps;
    phase.time = step * steps;
    phase.decay = 1.02;  // over a window in which the force turns it may rise
    phase.residual = f.norm() / z.norm();
    return z;
  };
  SettleResult phase;
  for (const double rate : {-0.1, -0.02}) {
    auto spiral = two_samples(turning(rate - 0.1, 0.5), turning(rate - 0.1, 0.5));
    const Matrix<double> z = walked(spiral, 12, phase);
    const std::string text = sentence(judge_point(spiral, z, false, phase, {}, step));
    REQUIRE_THAT(text, Catch::StartsWith("free phase too short") && Catch::Contains("reach 1e-03"));
    const int named = std::stoi(text.substr(text.find("; ") + 2));
    walked(spiral, named, phase);
    CHECK(phase.residual <= 1.001e-3);
    walked(spiral, named / 2, phase);
    CHECK(phase.residual > 1e-3);
  }
  // Without knowing how steps act a stable equilibrium is said to be approached, by its slowest mode and no number of steps.
  auto slow = two_samples(turning(-0.02, 1), turning(-0.02, 1));
  const Matrix<double> turns = walked(slow, 1, phase);
  CHECK_THAT(sentence(judge_point(slow, turns, false, phase, Motion::of_amplifiers(0.01))),
             Catch::StartsWith("free phase too short") && Catch::Contains("raise relaxation.free_steps") &&
                 !Catch::Contains("reach"));
  // A mode that nothing holds: its state grows without bound, and |F|/|z| falls as 1/k.
  Dense<double> a = Dense<double>::Zero(4, 4);
  a(1, 1) = a(3, 3) = -1;
  SmallDynamics<double> drifting(
      2, 2, [a](const Vec<double>& z) { return Vec<double>(a * z + Vec<double>::Ones(4)); },
      [a](const Vec<double>&) { return a; });
  const Matrix<double> z = walked(drifting, 80, phase);
  phase.decay = 0.98;
  CHECK_THAT(sentence(judge_point(drifting, z, false, phase, {}, step)), !Catch::Contains("reach"));
}

namespace {

/// Four samples of which one has settled; the residual halves in a step.
Equilibrium a_quarter_settled() {
  Equilibrium e;
  e.samples = 4;
  e.settled = 0.25;
  e.lost = e.none = e.unstable = e.dead = 0;
  e.residual = 0.2;
  e.decay = 0.5;
  return e;
}

}  // namespace

TEST_CASE("the sentence says what is wrong and what mends it", "[equilibrium]") {
  CHECK(sentence({}).empty());
  Equilibrium e = a_quarter_settled();
  e.steps = 1;
  CHECK(
      sentence(e) ==
      "free phase too short: residual 0.2 after 1 steps, 25 % of the samples settle; raise relaxation.free_steps: more "
      "steps tell whether there is an equilibrium");
  const std::vector<std::string> keys = e.keys;
  e.keys = {};
  CHECK_THAT(sentence(e), Catch::StartsWith("free phase too short") && !Catch::Contains("relaxation."));
  e.keys = keys;
  e.distance = 0.12;
  CHECK_THAT(sentence(e),
             Catch::Contains("after 1 steps, 12 % from equilibrium in the mean, 25 % of the samples settle"));
  e.distance = Equilibrium::unknown;
  e.abscissa = -1;  // there is one, and it is stable
  e.missing_steps = 8;
  CHECK(sentence(e) ==
        "free phase too short: residual 0.2 after 1 steps, 25 % of the samples settle; 9 steps (relaxation.free_steps) "
        "reach 1e-03");
  e.missing_steps = 0;
  e.decay = 1.1;
  CHECK_THAT(sentence(e), Catch::StartsWith("the steps overshoot") && Catch::Contains("lower relaxation.step"));
  e.abscissa = Equilibrium::unknown;
  CHECK_THAT(sentence(e), Catch::StartsWith("no equilibrium found") && Catch::Contains("lower relaxation.step"));
  e.settled = 1;
  e.residual = 1e-6;
  CHECK(sentence(e) == "settled: residual 1e-06 after 1 steps");
  CHECK(e.clean());
  e.dead = 0.95;
  e.keys = mending_keys();
  CHECK_THAT(sentence(e), Catch::StartsWith("dead: 95 % of the units") && Catch::Contains("bias"));
  Equilibrium other = e;
  other.samples = 12;
  other.settled = 0;
  e.add(other);
  CHECK(e.settled == 0.25);
  CHECK(e.samples == 16);
}

TEST_CASE("the verdict says what ended the phase, and what its tolerance ended is not told to take more steps",
          "[equilibrium]") {
  Equilibrium e = a_quarter_settled();
  e.steps = 3;
  e.abscissa = -1;
  e.ended = Status::converged;
  e.missing_steps = 8;
  CHECK(
      sentence(e) ==
      "free phase stopped early: residual 0.2 after 3 steps, where its tolerance ended it, 25 % of the samples settle; "
      "lower relaxation.tolerance to 1e-03; 11 steps reach it");
  e.missing_steps = 0;
  e.keys = {};
  CHECK_THAT(sentence(e), Catch::EndsWith("lower its tolerance to 1e-03"));
  for (const auto& [ended, words] : {std::pair(Status::stalled, "where it no longer falls"),
                                     {Status::oscillating, "where it goes up and down"},
                                     {Status::diverged, "where it diverged"}}) {
    e.ended = ended;
    CHECK_THAT(sentence(e), Catch::Contains(words));
  }
  // That of the phase whose residual is told.
  Equilibrium worse = e;
  worse.residual = 0.5;
  worse.ended = Status::stalled;
  e.add(worse);
  CHECK(e.ended == Status::stalled);
  worse.residual = 0.1;
  worse.ended = Status::converged;
  e.add(worse);
  CHECK(e.ended == Status::stalled);
  auto spiral = two_samples(turning(-1, 0.5), turning(-1, 0.5));
  SettleResult phase;
  phase.status = Status::converged;
  CHECK(judge_point(spiral, Matrix<double>::Ones(2, 2), false, phase).ended == Status::converged);
}
