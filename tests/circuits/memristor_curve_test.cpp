// SPDX-License-Identifier: Apache-2.0
// Memristors with a curve or a selector in netlists: their laws against differences, their operating points against ngspice's with B sources
// that are written by hand, and what is written back.
#include <fmt/format.h>

#include <cmath>

#include "tests/circuits/drawn_devices.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const std::vector<std::string> kCurved = {"iv_sinh=0.2", "iv_cubic=0.7", "iv_sinh=0.15 iv_cubic=0.4",
                                          "selector=transistor selector_resistance=30k",
                                          "selector=exponential selector_voltage=0.1 selector_current=20n"};

}  // namespace

TEST_CASE("memristor curves: slopes and energies are differences and integrals", "[netlist][memristor]") {
  for (const std::string& settings : kCurved) {
    CAPTURE(settings);
    const Netlist netlist = drawn_devices("t\nV1 a 0 1\nY1 a 0 preset=ecram " + settings + "\n");
    const Element& e = netlist.elements.back();
    REQUIRE(e.kind == ElementKind::curved_resistor);
    const ConductorLaw& law = *e.memristor->curve;
    for (const double g : {2e-6, 2e-5}) {
      for (const double v : {-0.9, -0.01, 0.3, 1.2}) {
        CAPTURE(g, v);
        constexpr double kStep =
            1e-5;  // cubes of relative steps: 1e-10 of a function whose scale is 0.1 V; rounding 1e-16/1e-5
        const ConductorLaw::Point at = law.at(g, v);
        const auto volts = [&](double d) { return law.at(g, v + d).current; };
        const auto siemens = [&](double d) { return law.at(g * (1 + d), v).current; };
        CHECK(at.by_volts == Approx((volts(kStep) - volts(-kStep)) / (2 * kStep)).epsilon(1e-7));
        CHECK(at.by_siemens == Approx((siemens(kStep) - siemens(-kStep)) / (2 * kStep * g)).epsilon(1e-7));
        const ConductorLaw::Energy energy = law.energy(g, v);
        const auto watts = [&](double d) { return law.energy(g, v + d).watts; };
        const auto stored = [&](double d) { return law.energy(g * (1 + d), v).watts; };
        CHECK(at.current == Approx((watts(kStep) - watts(-kStep)) / (2 * kStep)).epsilon(1e-6));
        CHECK(energy.by_siemens == Approx((stored(kStep) - stored(-kStep)) / (2 * kStep * g)).epsilon(1e-6));
        CHECK(law.energy(g, 0).watts == Approx(0).margin(1e-22));
        CHECK(law.at(g, -v).current == Approx(-at.current).epsilon(1e-14));
      }
    }
  }
}

TEST_CASE("memristor curves: a bridge of them is ngspice's with sources written by hand",
          "[netlist][memristor][ngspice]") {
  if (!ngspice_installed()) return;
  const std::string rest = "V1 a 0 0.8\nR1 b c 200k\nD1 c 0 dd\n.model dd d(is=1n)\n";
  const auto ours = [&](const std::string& settings) {
    const Netlist netlist = drawn_devices("bridge\n" + rest + "Y1 a b ec g=4u\nY2 b 0 ec g=9u\nY3 a c ec g=20u\n" +
                                          ".model ec memristor(preset=ecram " + settings + ")\n");
    const std::vector<double> v = solved_volts(netlist);
    // What is written is the same circuit.
    const std::string text = netlist_text(netlist, "written");
    const int b = find_node(netlist, "b");
    CHECK(spice_volts(text, "b") == Approx(v[static_cast<std::size_t>(b)]).epsilon(1e-6));
    return v[static_cast<std::size_t>(b)];
  };
  const auto theirs = [&](const auto& branch) {
    return spice_volts("bridge\n" + rest + branch("1", "a", "b", "4u") + branch("2", "b", "0", "9u") +
                           branch("3", "a", "c", "20u") + ".end\n",
                       "b");
  };
  // ngspice's k/q is 3.4e-7 below ours, which moves the diode's voltage by as much; it iterates to 1e-9.
  CHECK(ours("iv_sinh=0.15 iv_cubic=0.4") ==
        Approx(theirs([](auto k, auto p, auto n, auto g) {
          return fmt::format("b{} {} {} i={}*(0.15*sinh(v({},{})/0.15)+0.4*v({},{})^3)\n", k, p, n, g, p, n, p, n);
        })).epsilon(1e-6));
  CHECK(ours("selector=transistor selector_resistance=30k") ==
        Approx(theirs([](auto k, auto p, auto n, auto g) {
          return fmt::format("rm{} {} m{} {{1/{}}}\nrs{} m{} {} 30k\n", k, p, k, g, k, k, n);
        })).epsilon(1e-6));
  CHECK(ours("selector=exponential selector_voltage=0.1 selector_current=20n") ==
        Approx(theirs([](auto k, auto p, auto n, auto g) {
          return fmt::format("rm{} {} m{} {{1/{}}}\nb{} m{} {} i=20n*sinh(v(m{},{})/0.1)\n", k, p, k, g, k, k, n, k, n);
        })).epsilon(1e-6));
}

TEST_CASE("memristor curves: a steep curve behind a resistor is found from far away", "[netlist][memristor]") {
  // 100 V over 1 kOhm into g V₀ sinh(v/V₀): i = (100 − v)/1k, and v = V₀ asinh(i/(g V₀)).
  const Netlist netlist = drawn_devices("t\nV1 a 0 100\nR1 a b 1k\nY1 b 0 preset=ecram g=10u iv_sinh=0.05\n");
  double v = 1;
  for (int n = 0; n < 50; ++n) v = 0.05 * std::asinh((100 - v) / 1e3 / (10e-6 * 0.05));
  CHECK(solved_volts(netlist)[1] == Approx(v).epsilon(1e-9));  // a step of Newton's method is small at 1e-6 of 1 V
  // One whose current is beyond all numbers is not found, always in the same way: KLU leaves lengths of columns alone in their block unset.
  const NodalEquations far(drawn_devices("t\nV1 a 0 100\nY1 a 0 preset=ecram iv_sinh=0.05\n"));
  std::string first;
  for (int n = 0; n < 20; ++n) {
    const std::vector<char> other(static_cast<std::size_t>(64 << n % 8),
                                  static_cast<char>(n));  // moves what is allocated
    std::vector<double> x(static_cast<std::size_t>(far.unknowns()), 0.0);
    const OperatingPoint found = OperatingPointSolver(far).solve(far.values(), {}, x);
    CHECK(found.status != Status::converged);
    const std::string said = describe_failure(far, found);
    if (n == 0) first = said;
    CHECK(said == first);
    CHECK_THAT(said, Contains("y1"));
  }
}
