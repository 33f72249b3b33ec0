// SPDX-License-Identifier: Apache-2.0
// Noise of the currents of a netlist while it moves.
#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "netlist/netlist_file.hpp"
#include "sim/settle.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/training/drawn_circuit.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("netlist noise: resistors leave kT/C at every node", "[netlist][current_noise]") {
  // At rest ⟨v vᵀ⟩ = kT M⁻¹ whatever the resistors are (equipartition), M = ((c1 + cf, −cf), (−cf, c2 + cf)).
  Bound pair(kPair, charged(kPairFarad));
  const double kelvin = 300, kT = boltzmann_J_per_K * kelvin;
  dynamic_cast<NetlistTerm<double>&>(*pair.network->circuit().terms().front()).set_noise(kelvin);
  const Index rows = 1500;
  CircuitDynamics<double> dynamics(pair.network->circuit(), rows, 1);
  dynamics.bind(Matrix<double>::Zero(rows, 2), ReadContext{});
  REQUIRE(dynamics.noisy());
  SettleOptions options;
  options.step = 0.04;      // Euler adds ε λ/2 of the variance of a mode: rates are below 1.7/τ, 3.4 %
  options.max_steps = 300;  // 12 τ of rates above 0.7/τ: e^{−2·8} of what it starts with
  SettleWorkspace<double> scratch;
  Matrix<double> z = Matrix<double>::Zero(rows, 2);
  settle<double>(dynamics, z, options, scratch);
  const double c1 = 1e-9, c2 = 2e-9, cf = 0.5e-9, det = (c1 + cf) * (c2 + cf) - cf * cf;
  const double xx = z.col(0).squaredNorm() / rows, yy = z.col(1).squaredNorm() / rows;
  const double xy = z.col(0).dot(z.col(1)) / rows;
  // A variance of 1500 is known to √(2/1500) = 3.7 %: four of them and Euler's 3.4 %. The covariance to √(xx yy/1500).
  CHECK(xx == Approx(kT * (c2 + cf) / det).epsilon(0.19));
  CHECK(yy == Approx(kT * (c1 + cf) / det).epsilon(0.19));
  CHECK(std::abs(xy - kT * cf / det) < 4 * std::sqrt(xx * yy / rows) + 0.034 * kT * cf / det);
  CHECK(kT * cf / det > 4 * std::sqrt(xx * yy / rows));  // and is there
}

namespace {

/// A node y with one noisy element and the resistors r1, r2 between it and inputs of 0 V, at rest: 1500 states that Euler's steps have made of
/// it, and 25 steps later.
struct Fluctuating {
  double at_rest;  // V
  Eigen::VectorXd now, later;
};
constexpr double kKelvin = 300.15;  // of the models
constexpr double kEuler = 0.04;

Fluctuating fluctuating(const char* text, double farad) {
  Bound bound({text, {"va", "vb"}, {"y"}, {"r1", "r2"}}, Bound::chosen(kSiemens, kTau_s, 0));
  const int nodes = bound.plan->equations().nodes();
  Bound charging({text, {"va", "vb"}, {"y"}, {"r1", "r2"}},
                 charged(std::vector<double>(static_cast<std::size_t>(nodes), farad)));
  dynamic_cast<NetlistTerm<double>&>(*charging.network->circuit().terms().front()).set_noise(kKelvin);
  const Index rows = 1500;
  CircuitDynamics<double> one(bound.network->circuit(), 1, 1), dynamics(charging.network->circuit(), rows, 1);
  one.bind(Matrix<double>::Zero(1, 2), ReadContext{});
  Matrix<double> rest = Matrix<double>::Zero(1, 1);
  REQUIRE(one.direct()->solve(rest, {}).status == Status::converged);
  ReadContext read;
  dynamics.bind(Matrix<double>::Zero(rows, 2), read);
  SettleOptions options;
  options.step = kEuler;
  options.max_steps = 300;  // 12 τ of rates about 1/τ
  SettleWorkspace<double> scratch;
  Matrix<double> z = Matrix<double>::Constant(rows, 1, rest(0, 0));
  settle<double>(dynamics, z, options, scratch);
  const Eigen::VectorXd now = z.col(0).array() - rest(0, 0);
  options.max_steps = 25;
  read.step = 1;
  dynamics.bind(Matrix<double>::Zero(rows, 2), read);
  settle<double>(dynamics, z, options, scratch);
  return {rest(0, 0), now, z.col(0).array() - rest(0, 0)};
}

/// Current of a two-sided density S into G and C: ∫ S/(G² + ω²C²) df = S/(2GC), an Ornstein-Uhlenbeck process of rate G/C.
void check_fluctuations(const Fluctuating& found, double density, double siemens, double farad) {
  const double rate = siemens * kTau_s / farad;
  REQUIRE(rate == Approx(1).epsilon(0.1));
  const auto rows = static_cast<double>(found.now.size());
  // Euler: S/(2GC) / (1 − ελ/2). A variance of 1500 is known to √(2/1500) = 3.7 %: four of them.
  const double variance = density / (2 * siemens * farad) / (1 - kEuler * rate / 2);
  CHECK(found.now.squaredNorm() / rows == Approx(variance).epsilon(0.15));
  // White: what is left after n steps is (1 − ελ)^n, of 1500 pairs to (1 − ρ²)/√1500, four of which are .09.
  const double correlation = found.now.dot(found.later) / (found.now.norm() * found.later.norm());
  CHECK(correlation == Approx(std::pow(1 - kEuler * rate, 25)).margin(0.09));
}

constexpr double kCharge = 1.602176634e-19;

}  // namespace

TEST_CASE("netlist noise: a diode has the shot noise of its current", "[netlist][current_noise]") {
  // 1 mA through the diode: half the noise of a resistor of its slope, kT/2C (n = 1), 7.5 deviations of the variance away from kT/C.
  const double saturation = 1e-14, farad = 38e-9;
  const Fluctuating found = fluctuating(
      "diode\nVa a 0 0\nVb b 0 0\nR1 a y 1meg\nR2 b y 1meg\nI1 0 y 1m\nD1 y 0 dd\n.model dd D(IS=1e-14 N=1)\n", farad);
  const double loads = 2e-6, current = 1e-3 - loads * found.at_rest;
  const double kT = boltzmann_J_per_K * kKelvin;
  const double slope = kCharge * (current + saturation) / kT;
  check_fluctuations(found, kCharge * (current + 2 * saturation) + 2 * kT * loads, slope + loads, farad);
  CHECK(found.now.squaredNorm() / 1500 == Approx(kT / (2 * farad)).epsilon(0.18));
}

TEST_CASE("netlist noise: a transistor has the noise of its channel", "[netlist][current_noise]") {
  // Saturated, γ = 2/3 (van der Ziel): (1 + γ g_m R) kT/C of its load, 7.7 times what the load alone leaves.
  const double beta = 20e-3, over = 0.5, transconductance = beta * over, farad = 1e-9;
  const double kT = boltzmann_J_per_K * kKelvin;
  const Fluctuating saturated = fluctuating(
      "saturated\nVa a 0 0\nVb b 0 0\nR1 a y 1meg\nR2 b y 1meg\nVd d 0 5\nRd d y 1k\nVg g 0 1.2\nM1 y g 0 0 nn W=1u "
      "L=1u\n"
      ".model nn NMOS(VTO=0.7 KP=20m LAMBDA=0)\n",
      farad);
  REQUIRE(saturated.at_rest > over);
  const double loads = 1e-3 + 2e-6;
  check_fluctuations(saturated, 2 * kT * (loads + 2.0 / 3 * transconductance), loads, farad);
  // At no drain voltage it is a resistor: kT/C whatever its conductance.
  const double open = beta * over + 2e-6;
  const Fluctuating resistor = fluctuating(
      "a resistor\nVa a 0 0\nVb b 0 0\nR1 a y 1meg\nR2 b y 1meg\nVg g 0 1.2\nM1 y g 0 0 nn W=1u L=1u\n"
      ".model nn NMOS(VTO=0.7 KP=20m LAMBDA=0)\n",
      10e-9);
  check_fluctuations(resistor, 2 * kT * open, open, 10e-9);
}

namespace {

Netlist parsed(const std::string& text) {
  return parse_netlist("t.cir", text, [](const auto&, const auto&, auto&) { return std::string(); });
}
/// a |I|^AF of an element.
double flickering(const Netlist& netlist, const char* element, double amperes) {
  const FlickerLaw& law = netlist.elements[static_cast<std::size_t>(find_element(netlist, element))].flicker;
  return law.factor * std::pow(amperes, law.power);
}

}  // namespace

TEST_CASE("netlist noise: 1/f noise is that of ngspice's noise analysis", "[netlist][current_noise][ngspice]") {
  if (!ngspice_installed()) return;
  // A load of 1 Ohm and a diode whose slope is shorted for what it makes: volts are amperes to the 1e-5 of LAMBDA and slopes.
  const auto density = [](const std::string& text, const std::string& of) {
    const TemporaryDirectory folder;
    const std::string log = run_ngspice(
        folder.path(),
        text +
            ".options reltol=1e-9\n.noise v(y) vg lin 1 10 10 1\n.control\nset numdgt=12\nrun\nsetplot noise1\nprint "
            "onoise_" +
            of + "_1overf\nquit 0\n.endc\n.end\n");
    const auto at = log.find("_1overf = ");
    REQUIRE(at != std::string::npos);
    const double volts = std::stod(log.substr(at + 10));
    return volts * volts * 10;  // S f
  };
  for (const char* oxide : {"", "TOX=20n"}) {
    for (const char* size : {"W=10u L=2u", "W=40u L=2u", "W=10u L=8u"}) {
      const std::string text = fmt::format(
          "flicker\nvd d 0 5\nrd d y 1\nvg g 0 1.2 ac 1\nm1 y g 0 0 nn {}\n.model nn NMOS(VTO=0.7 KP=1m KF=1e-22 "
          "AF=1.3 {})\n",
          size, oxide);
      const Netlist netlist = parsed(text);
      const double amperes =
          netlist.elements[static_cast<std::size_t>(find_element(netlist, "m1"))].mosfet.at(1.2, 5, 0).current;
      // ngspice leaves gmin beside the load and prints 12 digits.
      CHECK(density(text, "m1") / flickering(netlist, "m1", amperes) == Approx(1).epsilon(1e-6));
      // What is written back has the noise too.
      CHECK(flickering(parsed(netlist_text(netlist, "")), "m1", amperes) / flickering(netlist, "m1", amperes) ==
            Approx(1).epsilon(1e-12));
    }
  }
  const std::string diode =
      "flicker\nvd d 0 5\nrd d y 1\nvg g 0 1 ac 1\nrg g y 1g\nd1 y z dd\ni1 z 0 1u\nc1 z 0 1\n.model dd D(IS=1e-14 "
      "KF=1e-12 AF=1.1)\n";
  // 1 uA through a slope of 26 kOhm, beside a capacitor that shorts it, into 1 Ohm; rg and gmin take 1e-9 of the current.
  const double share = 1 / (1 + 1e-6 / kSpiceThermal_V);
  CHECK(density(diode, "d1") / flickering(parsed(diode), "d1", 1e-6) == Approx(share * share).epsilon(1e-6));
}

TEST_CASE("netlist noise: 1/f noise goes on from step to step as the sum of its processes",
          "[netlist][current_noise]") {
  // The saturated transistor of above with 30 times its white noise, at one decade of time constants each from 100 tau down.
  const double farad = 1e-9, siemens = 1e-3 + 2e-6, rate = siemens * kTau_s / farad;
  const char* text =
      "flicker\nVa a 0 0\nVb b 0 0\nR1 a y 1meg\nR2 b y 1meg\nVd d 0 5\nRd d y 1k\nVg g 0 1.2\nM1 y g 0 0 nn W=1u "
      "L=1u\n.model nn NMOS(VTO=0.7 KP=20m LAMBDA=0 KF=1e-29 AF=1)\n";
  NetlistChoice choice = charged({farad, farad, farad, farad, farad});
  choice.flicker_slowest_s = 100 * kTau_s;
  Bound bound({text, {"va", "vb"}, {"y"}, {"r1", "r2"}}, choice);
  dynamic_cast<NetlistTerm<double>&>(*bound.network->circuit().terms().front()).set_noise(kKelvin);
  const Index rows = 1500;
  bound.dynamics->bind(Matrix<double>::Zero(1, 2), ReadContext{});
  const double rest = bound.solved()(0, 0);
  CircuitDynamics<double> dynamics(bound.network->circuit(), rows, 1);
  dynamics.bind(Matrix<double>::Zero(rows, 2), ReadContext{});
  SettleOptions options;
  options.step = kEuler;
  SettleWorkspace<double> scratch;
  Matrix<double> z = Matrix<double>::Constant(rows, 1, rest);
  const auto after = [&](int steps) -> Eigen::VectorXd {
    options.max_steps = steps;
    dynamics.begin_reads(ReadClass::free);
    settle<double>(dynamics, z, options, scratch);
    return z.col(0).array() - rest;
  };
  const Eigen::VectorXd now = after(400), later = after(75);
  // A process of variance v = ln 10 a |I| and time constant t through a node of 1/rate: with c = t rate and R = 1/siemens its part of the
  // covariance over s is R^2 v c (c e^(-s rate/c) - e^(-s rate))/(c^2 - 1), at c = 1 its limit (1 + s rate) e^(-s rate)/2.
  const Netlist netlist = parsed(text);
  const double amperes = 20e-3 * 0.5 * 0.5 / 2, v = std::log(10.0) * flickering(netlist, "m1", amperes);
  const auto covariance = [&](double s) {
    double sum = 0;
    for (double t = 100; t > 0.005; t /= 10) {
      const double c = t * rate;
      sum += std::abs(c - 1) < 0.01 ? (1 + s * rate) * std::exp(-s * rate) / 2
                                    : c * (c * std::exp(-s * rate / c) - std::exp(-s * rate)) / (c * c - 1);
    }
    return sum * v / (siemens * siemens);
  };
  const double white =
      boltzmann_J_per_K * kKelvin * (siemens + 2.0 / 3 * 20e-3 * 0.5) / (siemens * farad) / (1 - kEuler * rate / 2);
  REQUIRE(covariance(0) > 10 * white);
  // 1500 states know a variance to 3.7 %, four of them; a step of .04 moves the fastest processes' part by less than 2 %.
  CHECK(now.squaredNorm() / rows == Approx(covariance(0) + white).epsilon(0.17));
  CHECK(later.squaredNorm() / rows == Approx(covariance(0) + white).epsilon(0.17));
  const double expected = (covariance(75 * kEuler) + white * std::exp(-75 * kEuler * rate)) / (covariance(0) + white);
  CHECK(expected > 0.4);  // where white noise leaves .05
  CHECK(now.dot(later) / (now.norm() * later.norm()) == Approx(expected).margin(0.09));
  // Between its ends the sum of the Lorentzians is a |I|/f, to the ripple of one process per decade.
  for (const double hertz : {1e4, 2e4, 5e4, 1e5}) {
    double density = 0;
    for (double t = 100 * kTau_s; t > 0.005 * kTau_s; t /= 10)
      density += 4 * v * t / (1 + std::pow(2 * std::numbers::pi * hertz * t, 2));
    CHECK(density == Approx(flickering(netlist, "m1", amperes) / hertz).epsilon(0.07));
  }
}

TEST_CASE("netlist noise: model cards of 1/f noise are checked", "[netlist][current_noise]") {
  const auto read = [](const std::string& model) {
    parsed("t\nm1 a a 0 0 nn\nr1 a 0 1k\n.model nn NMOS(" + model + ")\n");
  };
  using Catch::Contains;
  CHECK_THROWS_WITH(read("VTO=0.7 TOX=0"), Contains("tox = 0 (must be > 0)"));
  CHECK_THROWS_WITH(read("KP=1m KF=-1"), Contains("t.cir:4") && Contains("kf = -1 (must be >= 0)"));
  CHECK_THROWS_WITH(read("KP=1m AF=0"), Contains("af = 0 (must be > 0)"));
  CHECK_NOTHROW(read("KP=1m KF=1e-26 AF=1.2 TOX=20n"));
}
