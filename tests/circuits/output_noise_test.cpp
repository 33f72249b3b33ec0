// SPDX-License-Identifier: Apache-2.0
// Noise of a node by the adjoint small signals: kT/C in closed form, and ngspice's .noise with every element that has some.
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "circuits/circuit_spec.hpp"
#include "circuits/netlist/current_noise.hpp"
#include "netlist/ac_response.hpp"
#include "netlist/netlist_file.hpp"
#include "netlist/operating_point.hpp"
#include "tests/circuits/ngspice.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// One-sided density of a node's noise at a frequency, V²/Hz.
double noise_density(const NodalEquations& equations, const char* node, double hertz, double kelvin) {
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  REQUIRE(OperatingPointSolver(equations).solve(equations.values(), {}, x).status == Status::converged);
  AcResponse response(equations, x, {});
  std::vector<std::complex<double>> y;
  REQUIRE(response.adjoint_at(hertz, {find_node(equations.netlist(), node), kGround}, y));
  const auto at = [&y](int i) { return i < 0 ? std::complex<double>() : y[static_cast<std::size_t>(i)]; };
  double sum = 0;
  for (const NoiseCurrent& one : noise_currents(equations, equations.values(), x, kelvin))
    sum += std::norm(at(one.from) - at(one.to)) * (2 * one.white_A2_per_Hz + one.flicker_A2 / hertz);
  return sum;
}

NodalEquations noisy_equations(const std::string& text) {
  return NodalEquations(parse_netlist("t.cir", text, [](const auto&, const auto&, auto&) { return std::string(); }));
}

}  // namespace

TEST_CASE("output noise: a resistor and a capacitor have the spectrum of kT/C", "[netlist][noise]") {
  const NodalEquations equations = noisy_equations("t\nV1 a 0 1\nR1 a b 1k\nC1 b 0 1n\nR2 b 0 3k\n");
  constexpr double kelvin = 350, ohm = 750;
  for (const double hertz : {1.0, 2e5, 1e7}) {
    const double turn = 2 * std::numbers::pi * hertz * ohm * 1e-9;
    // Rounding; gmin stands across junctions alone.
    CHECK(noise_density(equations, "b", hertz, kelvin) ==
          Approx(4 * boltzmann_J_per_K * kelvin * ohm / (1 + turn * turn)).epsilon(1e-12));
  }
}

TEST_CASE("output noise: a switch has that of its resistance, 1/f noise of a bipolar transistor is in its base",
          "[netlist][noise]") {
  const NodalEquations closed =
      noisy_equations("t\nV1 a 0 1\nVc c 0 2\nR1 a b 1k\nS1 b 0 c 0 sw\n.model sw SW(VT=1 VH=0.1 RON=3k ROFF=1g)\n");
  // Both resistances side by side; rounding.
  CHECK(noise_density(closed, "b", 1e3, 300) == Approx(4 * boltzmann_J_per_K * 300 * 750).epsilon(1e-9));
  // The same by a current of 1 mA, beyond the threshold and below it.
  for (const auto& [threshold, ohm] : {std::pair("0.5m", 750.0), std::pair("1.5m", 1e3 / (1 + 1e-6))}) {
    const NodalEquations by_current = noisy_equations(
        fmt::format("t\nV1 a 0 1\nVc c 0 1\nRc c d 1k\nVm d 0 0\nR1 a b 1k\nW1 b 0 Vm sw\n.model sw CSW(IT={} "
                    "IH=0.1m RON=3k ROFF=1g)\n",
                    threshold));
    CHECK(noise_density(by_current, "b", 1e3, 300) == Approx(4 * boltzmann_J_per_K * 300 * ohm).epsilon(1e-9));
  }
  // A base held by a source of 1 MOhm: its current I is that of the resistor, and v(b) gets KF I^AF/f (r_b || 1M)^2 more.
  const auto at_10_Hz = [](const char* flicker) {
    return noise_density(noisy_equations(fmt::format("t\nV1 a 0 10.7\nR1 a b 1meg\nVc c 0 5\nQ1 c b 0 q\n.model q "
                                                     "NPN(IS=1e-15 BF=100 {})\n",
                                                     flicker)),
                         "b", 10, 300.15);
  };
  const double current = 1e-5,
               base_Ohm = 1 / (current / 0.025865 + 1e-6);  // I/V_T of the base's diode; to 1 %, as I is
  const double more = at_10_Hz("KF=1e-10 AF=1.5") - at_10_Hz("");
  CHECK(more == Approx(1e-10 * std::pow(current, 1.5) / 10 * base_Ohm * base_Ohm).epsilon(0.03));
}

TEST_CASE("output noise: it is ngspice's .noise", "[netlist][noise][ngspice]") {
  if (!ngspice_installed()) return;
  // Field-effect transistors are saturated: below, ngspice holds their noise to g_m, which is none without a current.
  const std::string text =
      "noise\nv1 in 0 dc 1.2 ac 1\nr1 in b 1k\nq1 c b e q\nvc vcc 0 5\nrc vcc c 2k\nre e 0 500\nd1 c k dd\nrk k 0 "
      "10k\nm1 x k 0 0 nn "
      "w=10u l=2u\nrx vcc x 150k\ncx x 0 2p\nj1 z x s jj\nrs s 0 500\nrz vcc z 200\nl1 z y 1u\nry y 0 2k\n.model q "
      "npn(is=1e-15 bf=100 "
      "rb=200 rc=5 tf=1n cjc=2p kf=1e-14 af=1.1)\n.model dd d(is=1n rs=10 kf=1e-15 af=1)\n.model nn nmos(level=1 vto=2 "
      "kp=100u "
      "lambda=0.02 kf=1e-31 "
      "af=1 tox=20n)\n.model jj njf(vto=-2 beta=1m lambda=5m cgs=1p)\n";
  const NodalEquations equations = noisy_equations(text);
  std::string commands = ".options reltol=1e-9 abstol=1e-18 vntol=1e-15\n.control\nset numdgt=12\n";
  const std::vector<double> frequencies = {10, 1e4, 1e6, 1e8};
  for (std::size_t k = 0; k < frequencies.size(); ++k)
    commands += fmt::format("noise v(y) v1 lin 1 {0} {0}\nsetplot noise{1}\nprint onoise_spectrum\n", frequencies[k],
                            2 * k + 1);
  const TemporaryDirectory folder;
  const std::string log = run_ngspice(folder.path(), text + commands + "quit 0\n.endc\n.end\n");
  std::size_t at = 0;
  for (const double hertz : frequencies) {
    const std::string name = "onoise_spectrum = ";
    at = log.find(name, at);
    REQUIRE(at != std::string::npos);
    at += name.size();
    CAPTURE(hertz);
    // V/√Hz. k/q of ngspice 39 is 3.4e-7 below ours, and k and q 6e-7 and 9e-9.
    CHECK(std::sqrt(noise_density(equations, "y", hertz, 300.15)) == Approx(std::stod(log.substr(at))).epsilon(1e-5));
  }
}
