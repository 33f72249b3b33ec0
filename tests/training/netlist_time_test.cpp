// SPDX-License-Identifier: Apache-2.0
// A netlist in time: what its capacitances do to Euler's steps, to frequencies, and to states that are read before they have settled.
#include <cmath>
#include <numbers>

#include "circuits/circuit_spec.hpp"
#include "netlist/transient.hpp"
#include "sim/settle.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/training/drawn_circuit.hpp"
#include "training/train/equilibrium_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Nodes a, y, b: two resistors into one node, G = 1.5 mS.
const Drawn kDivider{"divider\nVa a 0 0\nR1 a y 1k\nVb b 0 0\nR2 b y 2k\n", {"va", "vb"}, {"y"}};
constexpr double kG = 1.5e-3, kRest = (kA * 1e-3 + kB * 0.5e-3) / kG;
DirectLoad<double> loaded(Bound& bound, DirectLoad<double>::Kind kind, double value, double load = 0) {
  const Columns outputs = bound.network->circuit().nodes().back().columns;
  return {kind, outputs, Matrix<double>::Constant(1, outputs.count, value), load};
}

}  // namespace

TEST_CASE("netlist in time: a delay leaves exp(-t G/C) of the way", "[netlist][netlist_time]") {
  const double farad = 2e-9, rate = kG / farad, delay = 0.7e-6, clock = 1.1e-6;
  Bound bound(kDivider, charged({0, farad, 0}, delay, clock));
  // Some hundred steps of 1e-7 each.
  CHECK(bound.solved()(0, 0) == Approx(kRest * -std::expm1(-rate * delay)).epsilon(1e-5));
  // Driven from where the clock has ended the free phase: by 0.05 units less 0.3 units of conductance.
  const double ended = kRest * -std::expm1(-rate * clock), driven_G = kG + 0.3e-3;
  const double to = (kRest * kG + 0.05e-3) / driven_G;
  Matrix<double> z = bound.solved();
  REQUIRE(bound.dynamics->direct()->solve(z, loaded(bound, DirectLoad<double>::Kind::driven, 0.05, 0.3)).status ==
          Status::converged);
  CHECK(z(0, 0) == Approx(to + (ended - to) * std::exp(-driven_G / farad * delay)).epsilon(1e-5));
  // What is computed is of the settled state; a phase takes a period.
  DirectLoad<double> settled;
  settled.settled = true;
  REQUIRE(bound.dynamics->direct()->solve(z, settled).status == Status::converged);
  CHECK(z(0, 0) == Approx(kRest).epsilon(1e-8));  // the shunt of 1 pS
  CHECK(bound.dynamics->direct()->solve(z, {}).time == Approx(clock / kTau_s));
}

TEST_CASE("netlist in time: nodes behind a clamped output follow it late", "[netlist][netlist_time]") {
  // a - 1k - x - 2k - y(out): once y is held, x goes to its divider with (1/1k + 1/2k)/C.
  const Drawn ladder{"ladder\nVa a 0 0\nVb b 0 0\nR1 a x 1k\nR2 x y 2k\nR3 y b 1k\n", {"va", "vb"}, {"y"}};
  const double farad = 1e-9, delay = 0.4e-6;
  Bound bound(ladder,
              charged({0, 0, farad, farad}, delay, 100e-6));  // free phases end settled: 100 us of rates above 0.3/us
  Matrix<double> z = bound.solved();
  const double current = (kA - kB) / 4e3, held = 0.25;
  REQUIRE(bound.dynamics->direct()->solve(z, loaded(bound, DirectLoad<double>::Kind::held, held)).status ==
          Status::converged);
  const double from = kA - 1e3 * current, to = (2 * kA + held) / 3;
  CHECK(z(0, 1) == Approx(held).epsilon(1e-12));
  CHECK(z(0, 0) == Approx(to + (from - to) * std::exp(-1.5e-3 / farad * delay)).epsilon(1e-5));
}

TEST_CASE("netlist in time: centered nudges that are read late are a share of the gradient, one-sided ones are biased",
          "[netlist][netlist_time]") {
  const double farad = 1e-9, delay = 1e-6, left = std::exp(-kG / farad * delay);
  Bound late(kDivider, charged({0, farad, 0}, delay)), settled(kDivider, charged({0, farad, 0}));
  // With β → 0 half the difference of two nudges over β is ∫ e^{−λ(t−s)} e(s) ds/C, e the error on the way of the free state from where it was
  // read, e∞ + (e₀ − e∞) e^{−λs}; the drops are those that were read.
  const double read = kRest * (1 - left), at_end = kRest - kTarget, at_read = read - kTarget;
  const double adjoint = kSiemens * ((1 - left) * at_end / kG + (at_read - at_end) * left * delay / farad);
  const Eigen::Vector2d expected(adjoint * (kA - read), adjoint * (kB - read));
  // 1e-7 of steps over β of 1e-3 and an adjoint of .1, and β² of curvature.
  CHECK(relative(flat(late.gradient("ep", 1e-3)), expected) < 1e-3);
  CHECK(flat(late.gradient("adjoint", 0)) == flat(settled.gradient("adjoint", 0)));
  // One-sided, the way that the free state still goes between the two reads is taken for the nudge's, over β.
  Bound one_sided(kDivider, charged({0, farad, 0}, delay));
  one_sided.options.sides = NudgeSides::positive;
  const double drift = (kRest - read) * (1 - left);
  CHECK(relative(flat(one_sided.gradient("ep", 1e-3)), expected) ==
        Approx(std::abs(drift / (1e-3 * adjoint))).epsilon(0.01));
}

TEST_CASE("netlist in time: Euler's steps are those of the capacitances", "[netlist][netlist_time]") {
  // One node, to rounding: z_n = z∞ (1 − (1 − ε G τ/C)^n).
  const double farad = 2e-9;
  Bound one(kDivider, charged({0, farad, 0}));
  SettleOptions options;
  options.step = 0.1;
  options.max_steps = 7;
  SettleWorkspace<double> scratch;
  Matrix<double> z = Matrix<double>::Zero(1, 1);
  settle<double>(*one.dynamics, z, options, scratch);
  CHECK(z(0, 0) == Approx(kRest * (1 - std::pow(1 - 0.1 * kG * kTau_s / farad, 7))).epsilon(1e-8));  // 1 pS

  // Two with a capacitor between them against IDA (ngspice's, tests/circuits/step_response_test.cpp): first order in the step.
  std::string text = kPair.text;
  text.replace(text.find("Va a 0 0"), 8, "Va a 0 0.7");
  text.replace(text.find("Vb b 0 0"), 8, "Vb b 0 -0.4");
  const auto no_files = [](const std::string&, const std::string&, std::string&) { return std::string(); };
  const NodalEquations equations(parse_netlist("t.cir", text, no_files));
  const StepResponse exact = step_response(equations, {.stop_s = 0.8e-6, .node_capacitance_F = kPairFarad});
  const double x = exact.volts.back()[1], y = exact.volts.back()[3];
  Bound pair(kPair, charged(kPairFarad));
  const auto error = [&](double step) {
    options.step = step;
    options.max_steps = static_cast<int>(std::lround(0.8 / step));
    Matrix<double> state = Matrix<double>::Zero(1, 2);
    settle<double>(*pair.dynamics, state, options, scratch);
    return std::hypot(state(0, 0) - x, state(0, 1) - y);
  };
  const double coarse = error(0.02), fine = error(0.01);
  CHECK(coarse < 0.02);
  CHECK(coarse / fine == Approx(2).epsilon(0.1));
}

TEST_CASE("netlist in time: a node without a capacitance makes no steps", "[netlist][netlist_time]") {
  Bound bound(kPair, charged({0, 0, 0, 2e-9}));
  Matrix<double> z = Matrix<double>::Zero(1, 2);
  SettleWorkspace<double> scratch;
  // The capacitor between x and y gives x one all the same; a divider's node has none.
  CHECK_NOTHROW(settle<double>(*bound.dynamics, z, {}, scratch));
  Bound bare(kDivider, charged({0, 0, 0}));
  z.setZero(1, 1);
  CHECK_THROWS_WITH(settle<double>(*bare.dynamics, z, {}, scratch), Catch::Contains("output y has no capacitance"));
}

TEST_CASE("netlist in time: amplitudes with capacitances of nodes are those of ngspice's small-signal analysis",
          "[netlist][netlist_time][ngspice]") {
  if (!ngspice_installed()) return;
  Bound bound(kPair, charged(kPairFarad));
  bound.input_frequency = bound.error_frequency = 0.7;
  const Gradient<double> gradient = bound.gradient("frequency", 0);
  const auto in_phase = [](double a, double b, double push, const char* node) {
    return in_phase_by_ngspice("pair\nR1 a x 1k\nR2 b y 500\nR3 x y 2k\nR4 y 0 3k\nCf x y 0.5n\nCx x 0 1n\nCy y 0 2n\n",
                               700, a, b, push, node);
  };
  const double x = in_phase(kA, kB, 0, "x"), y = in_phase(kA, kB, 0, "y");
  const double ax = (y - kTarget) * in_phase(0, 0, 1e-3, "x"), ay = (y - kTarget) * in_phase(0, 0, 1e-3, "y");
  const Eigen::Vector4d expected(ax * (kA - x), ay * (kB - y), -(ax - ay) * (x - y), -ay * y);
  CHECK(relative(flat(gradient), expected) < 1e-6);
  Bound without(kPair, Bound::chosen(kSiemens, kTau_s, 0));
  without.input_frequency = without.error_frequency = 0.7;
  CHECK(relative(flat(without.gradient("frequency", 0)), expected) > 1e-2);  // the capacitances matter
}

namespace {

/// What a lock-in makes of a circuit in time, the adjoint of the one node of a divider or the gradient of a pair.
Bound in_time(const Drawn& drawn, std::vector<double> farad, double inputs, double error, int periods) {
  Bound bound(drawn, charged(std::move(farad)));
  bound.input_frequency = inputs;
  bound.error_frequency = error;
  bound.options.free.step = bound.options.step = 0.02;
  bound.options.free.max_steps = 1500;
  bound.options.oscillation.form = NudgeForm::oscillating;
  bound.options.oscillation.periods = periods;
  bound.options.oscillation.settling = 2;
  return bound;
}

}  // namespace

TEST_CASE("netlist in time: frequencies by lock-in are the small-signal form", "[netlist][netlist_time][lock_in]") {
  for (const double inputs : {0.0, 0.75}) {
    Bound moving = in_time(kPair, kPairFarad, inputs, 0.25, 2), exact(kPair, charged(kPairFarad));
    exact.input_frequency = inputs;
    exact.error_frequency = 0.25;
    const Eigen::VectorXd small = flat(exact.gradient("frequency", 0));
    const Eigen::VectorXd heard = flat(moving.gradient("frequency", 0.1, SettleSolver::euler));
    // A step of h turns phases by ωh/2 and adds ω²h/2 to rates of .7 and more: 8e-3 of quadratures for ω₁ = .75, and the nearest frequencies of
    // whole steps are 3e-3 off.
    CHECK(relative(heard, small) < 2e-2);
    CHECK(moving.report.nudged_time == Approx((inputs > 0 ? 2 : 1) * 4 * 2 * std::numbers::pi / 0.25).epsilon(0.02));
  }
  Bound near = in_time(kPair, kPairFarad, 0.3, 0.25, 2);
  CHECK_THROWS_WITH(near.gradient("frequency", 0.1, SettleSolver::euler), Catch::Contains("factor of 2"));
  Bound fast = in_time(kPair, kPairFarad, 0, 100, 2);
  CHECK_THROWS_WITH(fast.gradient("frequency", 0.1, SettleSolver::euler), Catch::Contains("at least 8 steps"));
}

TEST_CASE("netlist in time: noise of a lock-in falls with the root of its time, about the small-signal form",
          "[netlist][netlist_time][lock_in]") {
  const double farad = 1e-9, omega = 0.5, beta = 0.1;
  const auto estimates = [&](int periods) {
    Bound bound = in_time(kDivider, {0, farad, 0}, 0, omega, periods);
    // Noise that is worth seeing: a hot circuit.
    dynamic_cast<NetlistTerm<double>&>(*bound.network->circuit().terms().front()).set_noise(3e8);
    Matrix<double> input(1, 2);
    input << kA, kB;
    std::vector<double> all;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      ReadContext read;
      read.seed = seed;
      bound.dynamics->bind(input, read);
      bound.options.free.solver = SettleSolver::euler;
      Matrix<double> z = Matrix<double>::Zero(1, 1), unused = z;
      bound.options.error_frequency = omega;
      bound.options.beta = beta;
      const auto made = make_estimator<double>("frequency", bound.options);
      Gradient<double> sum(bound.network->parameter_shapes());
      // The error is that of the free state, which is noisy too: its share is taken out by dividing by it.
      Example<double> example{bound.dynamics.get(), bound.cost.get(), &z, &unused, 1.0, &sum};
      made->estimate(example);
      all.push_back(made->adjoint()(0, 0) / (z(0, 0) - kTarget));
    }
    return all;
  };
  const auto mean_and_variance = [](const std::vector<double>& all) {
    double mean = 0, squares = 0;
    for (const double one : all) mean += one / static_cast<double>(all.size());
    for (const double one : all) squares += (one - mean) * (one - mean) / static_cast<double>(all.size() - 1);
    return std::pair(mean, squares);
  };
  const auto [short_mean, short_variance] = mean_and_variance(estimates(2));
  const auto [long_mean, long_variance] = mean_and_variance(estimates(8));
  // The response to a unit of error, −Re 1/(−g − iω), g = 1.5 of the unit.
  const double g = kG / kSiemens, response = -g / (g * g + omega * omega);
  CHECK(long_mean == Approx(-response).epsilon(0.01).margin(4 * std::sqrt(long_variance / 200)));
  CHECK(short_mean == Approx(-response).epsilon(0.01).margin(4 * std::sqrt(short_variance / 200)));
  // Variances of 200 are known to 10 % each; four of both are 57 % of their ratio. The ends of a memory of 1/g in 25 τ add some per cent.
  CHECK(short_variance / long_variance == Approx(4).epsilon(0.57));
  // 2 S/T of S = 2kTG/(G² + ω²C²) at the node, over β² and the squared error of the free state.
  const double kT = boltzmann_J_per_K * 3e8, radian = omega / kTau_s;
  const double density = 2 * kT * kG / (kG * kG + radian * radian * farad * farad);
  const double time = 8 * 2 * std::numbers::pi / radian, error = kRest - kTarget;
  CHECK(long_variance == Approx(2 * density / time / (beta * beta * error * error)).epsilon(0.5));
}

TEST_CASE("netlist in time: gates leak in the phases of a step", "[netlist][netlist_time]") {
  const auto left = [](std::vector<std::string> more) {
    std::vector<std::string> all{
        "netlist.learn=['r?_*', 'vbias', 'ib']", "netlist.file=" NUDGE_SOURCE_DIR "/tests/training/netlists/mixed.cir",
        "netlist.node_capacitance=1 pF",         "relaxation.solver=direct",
        "gradcheck.estimators=['ep']",           "netlist.clock=1 us",
        "netlist.gate_leak_time=1 ms",           "train.batch=8"};
    all.insert(all.end(), more.begin(), more.end());
    const Config config = small("netlist", all);
    const auto network = make_network<double>(config, network_plan(config, sizes_for(config)), Weights::configured);
    const auto hooks = make_hooks<double>(config, *network);
    const int last = network->parameters() - 1;
    const double before = network->map(last).weights()(0, 0);
    REQUIRE(before != 0);
    for (const auto& hook : hooks) hook->updated(*network, 0);
    return network->map(last).weights()(0, 0) / before;
  };
  // 8 samples of a free phase and two nudged ones; of one nudged one; of a twin that has it beside the free one.
  CHECK(left({"estimator=ep"}) == Approx(std::exp(-24e-3)).epsilon(1e-12));
  CHECK(left({"estimator=ep", "nudge.sides=positive"}) == Approx(std::exp(-16e-3)).epsilon(1e-12));
  CHECK(left({"estimator=ep", "nudge.sides=positive", "netlist.twin_mismatch=0.01"}) ==
        Approx(std::exp(-8e-3)).epsilon(1e-12));
}

TEST_CASE("netlist in time: keys that would not act, or contradict each other, are refused",
          "[netlist][netlist_time]") {
  const auto refused = [](std::vector<std::string> settings, const std::string& reason) {
    CAPTURE(settings);
    settings.emplace_back("gradcheck.estimators=['ep']");
    CHECK_THROWS_WITH(small("netlist", settings), Catch::Contains(reason));
  };
  const std::string farad = "netlist.node_capacitance=1 pF", direct = "relaxation.solver=direct", ep = "estimator=ep";
  refused({farad, direct, ep}, "netlist.node_capacitance");
  refused({farad, direct, ep, "netlist.delay=2 us", "netlist.clock=1 us"}, "at most netlist.clock");
  refused({farad, direct, ep, "netlist.clock=1 us", "netlist.gate_leak=0.1", "netlist.gate_leak_time=1 s"},
          "must be off with netlist.gate_leak");
  refused({farad, "relaxation.solver=rk4"},
          "relaxation.solver = rk4 (does not fit: netlist.node_capacitance gives nodes different times");
  CHECK_NOTHROW(
      small("netlist", {farad, direct, ep, "netlist.delay=1 us", "netlist.clock=2 us", "gradcheck.estimators=['ep']"}));
  // Of nodes of the netlist, when its plan is made.
  const auto planned = [&](const std::string& entry) {
    const Config config = small("netlist", {farad, "netlist.capacitances=['" + entry + "']"});
    static_cast<void>(network_plan(config, sizes_for(config)));
  };
  CHECK_NOTHROW(planned("o* = 2 pF"));
  CHECK_THROWS_WITH(planned("p7 = 2 pF"), Catch::Contains("no node \"p7\""));
  CHECK_THROWS_WITH(planned("o7 2 pF"), Catch::Contains("must be NODE = CAPACITANCE"));
  CHECK_THROWS_WITH(planned("o7 = 2 pS"), Catch::Contains("o7 = 2 pS"));
  CHECK_THROWS_WITH(planned("o7 = -2 pF"), Catch::Contains("at least 0 F"));
}
