// SPDX-License-Identifier: Apache-2.0
// Laws of transistors, diodes and expressions against closed forms, ngspice and differences; gradients of operating points with them.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <regex>

#include "netlist/netlist_file.hpp"
#include "netlist/operating_point.hpp"
#include "tests/circuits/ngspice.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

NodalEquations parsed(const std::string& text) {
  return NodalEquations(parse_netlist("t.cir", text, [](const auto&, const auto&, auto&) { return std::string(); }));
}

std::vector<double> solved(const NodalEquations& equations, const std::vector<double>& values) {
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  REQUIRE(solver.solve(values, {}, x).status == Status::converged);
  return x;
}

double volts(const NodalEquations& equations, const std::vector<double>& x, const std::string& node) {
  const int at = find_node(equations.netlist(), node);
  REQUIRE(at >= 0);
  return x[static_cast<std::size_t>(at)];
}

/// EKV of a long channel as it is published, in long double and with the logarithm as it stands.
long double ekv_A(const MosfetLaw& law, long double vg, long double vd, long double vs) {
  const long double ut = law.thermal_V, gamma = law.body_factor, phi = law.surface_V;
  const long double raised = vg - law.threshold_V + phi + gamma * sqrtl(phi);
  const long double pinch = raised > 0 ? raised - phi - gamma * (sqrtl(raised + gamma * gamma / 4) - gamma / 2) : -phi;
  const long double n = 1 + gamma / (2 * sqrtl(pinch + phi + 4 * ut));
  const auto f = [&](long double v) { return powl(logl(1 + expl((pinch - v) / (2 * ut))), 2); };
  return 2 * n * law.beta_A_per_V2 * ut * ut * (f(vs) - f(vd));
}

MosfetLaw ekv_law() {
  MosfetLaw law;
  law.ekv = true;
  law.threshold_V = 0.55;
  law.beta_A_per_V2 = 2e-4;
  law.body_factor = 0.7;
  law.surface_V = 0.85;
  return law;
}

}  // namespace

TEST_CASE("netlist: EKV is its equations over nine decades of current", "[netlist][ekv]") {
  const MosfetLaw law = ekv_law();
  double least = 1, most = 0;
  for (double vg = -0.2; vg <= 3.01; vg += 0.05) {
    for (const double vd : {0.02, 0.3, 1.5}) {
      for (const double vs : {0.0, 0.4}) {
        const MosfetLaw::Point p = law.at(vg - vs, vd - vs, -vs);
        // log1p and the plain logarithm of long double differ by its rounding over the smallest argument, 1e-19/1e-8.
        CHECK(p.current == Approx(static_cast<double>(ekv_A(law, vg, vd, vs))).epsilon(1e-9).margin(1e-30));
        if (vd == 1.5) least = std::min(least, p.current), most = std::max(most, p.current);
        const double h = 1e-5;  // differences: h² of a curvature of 1/U_T², 1e-7
        const auto slope = [&](double g, double d, double s) {
          return static_cast<double>(ekv_A(law, vg + g * h, vd + d * h, vs + s * h) -
                                     ekv_A(law, vg - g * h, vd - d * h, vs - s * h)) /
                 (2 * h);
        };
        const double scale = 1e-6 * (std::abs(p.by_gate) + std::abs(p.by_drain)) + 1e-30;
        CHECK(std::abs(p.by_gate - slope(1, 0, 0)) < scale);
        CHECK(std::abs(p.by_drain - slope(0, 1, 0)) < scale);
        CHECK(std::abs(-(p.by_gate + p.by_drain + p.by_bulk) - slope(0, 0, 1)) < scale);
      }
    }
  }
  CHECK(most / least > 1e9);
}

TEST_CASE("netlist: EKV has the limits of weak and strong inversion", "[netlist][ekv]") {
  MosfetLaw law = ekv_law();
  const double ut = law.thermal_V;
  // Weak: I = 2 n β U_T² exp((V_p − V_s)/U_T) (1 − exp(−V_ds/U_T)), short of it by exp(V_p/2U_T), 6e-4 at V_p = −0.38 V; the two
  // exponentials here differ by 2 % of that.
  const double ratio = law.at(0, 0.1, 0).current / law.at(0, 1, 0).current;
  CHECK(ratio == Approx(1 - std::exp(-0.1 / ut)).epsilon(2e-5));
  // Strong, γ = 0: β/2 (V_gs − VTO)²; ln(1 + e^u) − u is below 1e-13 at u = 1.2 V/2U_T.
  law.body_factor = 0;
  const double over = 1.2, gate = law.threshold_V + over;
  CHECK(law.at(gate, 3, 0).current == Approx(0.5 * law.beta_A_per_V2 * over * over).epsilon(1e-9));
  // Noise: that of its conductance at V_ds = 0 (Nyquist), shot noise 2 q I in weak inversion, short of it by exp(V_p/2U_T), 3e-3; ⅔ g_m in
  // strong.
  const MosfetLaw bent = ekv_law();
  for (const double vg : {0.1, 0.5, 0.9, 2.5})
    CHECK(bent.noise_S(vg, 0, 0) == Approx(bent.at(vg, 0, 0).by_drain).epsilon(1e-9));
  CHECK(bent.noise_S(0.1, 1, 0) == Approx(bent.at(0.1, 1, 0).current / (2 * ut)).epsilon(4e-3));
  const double gm = law.at(30, 40, 0).by_gate;  // the rest is U_T/V_ov of it
  CHECK(law.noise_S(30, 40, 0) == Approx(2.0 / 3 * gm).epsilon(3e-3));
}

TEST_CASE("netlist: EKV in a circuit is what ngspice makes of its equations", "[netlist][ekv][ngspice]") {
  if (!ngspice_installed()) return;
  // A subthreshold mirror and a pair that it feeds; in ngspice B sources have the current, in terms of g, d and s against the bulk.
  const char* circuit =
      "ekv\nvd vdd 0 3\nr1 vdd a 20meg\n{}vin p 0 0.83\nvim q 0 0.8\nr2 vdd x 10meg\nr3 vdd y 10meg\n.options "
      "gmin=1e-15\n";
  const std::string cards =
      "m1 a a 0 0 nn w=10u l=5u\nm2 t a 0 0 nn w=20u l=5u\nm3 x p t 0 nn w=20u l=5u\nm4 y q t 0 nn w=20u l=5u\n"
      ".model nn nmos(level=26 vto=0.55 kp=100u gamma=0.7 phi=0.85 is=1e-22)\n";
  const double ut = 1.38064852e-23 * 300.15 / 1.6021766208e-19;  // ngspice 39 has CODATA 2014
  const std::string laws = fmt::format(".param ut={:.12g}\n", ut) +
                           ".func raised(g) {g-0.55+0.85+0.7*sqrt(0.85)}\n"
                           ".func vp(g) {raised(g)-0.85-0.7*(sqrt(raised(g)+0.7*0.7/4)-0.35)}\n.func f(v) "
                           "{ln(1+exp(v/(2*ut)))*ln(1+exp(v/(2*ut)))}\n"
                           ".func id(g,d,s) {2*(1+0.7/(2*sqrt(vp(g)+0.85+4*ut)))*100u*ut*ut*(f(vp(g)-s)-f(vp(g)-d))}\n"
                           "b1 a 0 i=2*id(v(a),v(a),0)\nb2 t 0 i=4*id(v(a),v(t),0)\nb3 x t i=4*id(v(p),v(x),v(t))\nb4 "
                           "y t i=4*id(v(q),v(y),v(t))\n";
  const NodalEquations equations = parsed(fmt::format(fmt::runtime(circuit), cards));
  const std::vector<double> x = solved(equations, equations.values());
  const TemporaryDirectory folder;
  const std::string log =
      run_ngspice(folder.path(), fmt::format(fmt::runtime(circuit), laws) +
                                     ".options reltol=1e-9 abstol=1e-18 vntol=1e-15\n.control\nset "
                                     "numdgt=15\nop\nprint v(a) v(t) v(x) v(y)\nquit 0\n.endc\n.end\n");
  for (const char* node : {"a", "t", "x", "y"}) {
    std::smatch found;
    REQUIRE(std::regex_search(log, found, std::regex(fmt::format("v\\({}\\) = (\\S+)", node))));
    // The junctions' gmin of 1e-15 S at 1e7 Ohm, 1e-8; k/q differs by 3.4e-7, which the pair's gain multiplies little.
    CHECK(volts(equations, x, node) == Approx(std::stod(found[1])).epsilon(2e-6));
  }
  // Written and read again, with the level that only nudge has.
  const std::string text = netlist_text(equations.netlist(), "again");
  CHECK_THAT(text, Catch::Contains("LEVEL=26"));
  const NodalEquations again = parsed(text);
  CHECK(volts(again, solved(again, again.values()), "x") == Approx(volts(equations, x, "x")).epsilon(1e-9));
}

TEST_CASE("netlist: a junction's energy is the integral of its current", "[netlist]") {
  const JunctionLaw knee{1e-14, 0.03, 1e-3}, breaking{1e-14, 0.026, 0, 4, 0.05};
  for (const auto& [law, from, to] :
       {std::tuple(knee, 0.0, 0.95), std::tuple(knee, 0.3, 0.7), std::tuple(knee, -1.0, 0.5),
        std::tuple(breaking, -5.0, 0.6), std::tuple(breaking, -3.9, -4.6)}) {
    constexpr int kParts = 20000;  // Simpson: h⁴ over the fourth power of 26 mV, 1e-8
    const double h = (to - from) / kParts;
    double sum = 0;
    for (int i = 0; i <= kParts; ++i)
      sum += (i == 0 || i == kParts ? 1 : i % 2 == 1 ? 4 : 2) * law.at(from + i * h).current * h / 3;
    CHECK(law.energy(to) - law.energy(from) == Approx(sum).epsilon(1e-6));
  }
  // −IBV − IS (1 − V_b/V_r) at −BV, and no jump of more than 2e-6 I_s where breakdown begins.
  const Netlist net = parsed("t\nv1 a 0 1\nd1 a 0 dd\n.model dd d(is=1e-14 bv=5 ibv=2m)\n").netlist();
  const JunctionLaw& law = net.elements[1].junction;
  const double beside = law.saturation_A * (1 - law.breakdown_V / law.reverse_V);
  CHECK(law.at(-5).current == Approx(-2e-3 - beside).epsilon(1e-12));
  CHECK(law.at(-law.breakdown_V * (1 + 1e-12)).current == Approx(law.at(-law.breakdown_V).current).epsilon(1e-5));
}

TEST_CASE("netlist: breakdown is ngspice's at any temperature", "[netlist]") {
  // exp((BV - x)/V_r) = IBV/IS + 1 - x/V_r solved to 1e-10 of IBV in a program of its own, with ngspice's k and q, 2e-6 of ours.
  const auto at = [](const char* model, double celsius) {
    const NodalEquations equations =
        parsed(fmt::format("t\nV1 s 0 -120\nR1 s a 100k\nD1 a 0 dd\n.model dd d({})\n.temp {}\n", model, celsius));
    return volts(equations, solved(equations, equations.values()), "a");
  };
  CHECK(at("is=2.5n n=1 bv=7 ibv=1m", 100) == Approx(-7.127710).epsilon(1e-6));
  CHECK(at("is=2.5n n=1.75 bv=100 ibv=100u", 100) == Approx(-100.343361).epsilon(1e-6));
}

TEST_CASE("netlist: small resistances beside junctions that block", "[netlist]") {
  // 12 V and 5 V block two equal diodes with equal leaks and gmin: the node between is at the mean. IS of both are equal to 1e-12.
  for (const char* ohm : {"0.1", "10m", "3m"}) {
    INFO(ohm);
    const NodalEquations equations = parsed(
        fmt::format("t\nV1 bat 0 12\nV2 usb 0 5\nD1 usb a dd\nRs a b {}\nD2 b bat dd\n.model dd d(is=1e-14)\n", ohm));
    CHECK(volts(equations, solved(equations, equations.values()), "b") == Approx(8.5).epsilon(1e-6));
  }
}

TEST_CASE("netlist: expressions where their slope is not finite", "[netlist]") {
  for (const auto& [text, expected] : std::map<std::string, double>{{"sqrt(v(a))", 0},
                                                                    {"v(a)^0.5", 0},
                                                                    {"pow(v(a),0.5)", 0},
                                                                    {"pwr(v(a),0.5)", 0},
                                                                    {"asin(1-v(a))", std::acos(0.0)},
                                                                    {"acos(1-v(a))", 0},
                                                                    {"atan2(v(a),v(a))", 0}}) {
    INFO(text);
    const NodalEquations equations = parsed("t\nV1 a 0 0\nR1 a 0 1k\nB1 b 0 v=" + text + "\nR2 b 0 1k\n");
    CHECK(volts(equations, solved(equations, equations.values()), "b") == Approx(expected).margin(1e-9));
  }
}

TEST_CASE("netlist: gradients of operating points are differences, with every kind of element", "[netlist]") {
  for (const char* name : {"behavioural", "switches", "body_effect", "diode_models", "bipolar", "inductors", "jfet",
                           "operational_amplifier", "base_resistance", "recombination", "process", "part_models"}) {
    INFO(name);
    const NodalEquations equations(read_netlist(std::filesystem::path(NUDGE_SOURCE_DIR "/tests/circuits/netlists") /
                                                (std::string(name) + ".cir")));
    OperatingPointSolver solver(equations);
    const std::vector<double> values = equations.values(), x = solved(equations, values);
    const auto nodes = static_cast<std::size_t>(equations.nodes());
    const std::vector<Element>& elements = equations.netlist().elements;
    std::vector<std::size_t> resistors;
    std::vector<std::vector<double>> differences;
    constexpr double kStep = 1e-4;  // of a conductance: h² times a curvature of some 1, 1e-8
    for (std::size_t k = 0; k < elements.size(); ++k) {
      if (elements[k].kind != ElementKind::resistor) continue;
      std::vector<double> up = values, down = values;
      up[k] *= 1 + kStep;
      down[k] *= 1 - kStep;
      const std::vector<double> above = solved(equations, up), below = solved(equations, down);
      resistors.push_back(k);
      differences.emplace_back();
      for (std::size_t i = 0; i < nodes; ++i) differences.back().push_back((above[i] - below[i]) / (2 * kStep));
    }
    REQUIRE(resistors.size() > 3);
    for (std::size_t i = 0; i < nodes; ++i) {
      std::vector<double> w(x.size(), 0.0);
      w[i] = 1;
      REQUIRE(solver.solve_transposed(values, x, w).status == Status::converged);
      double most = 1e-9;
      std::vector<double> found;
      for (const std::size_t k : resistors) {
        found.push_back(-values[k] * across(elements[k], w) * across(elements[k], x));
        most = std::max(most, std::abs(found.back()));
      }
      for (std::size_t k = 0; k < resistors.size(); ++k) {
        INFO("v(" << equations.netlist().nodes[i] << ") by " << elements[resistors[k]].name);
        CHECK(std::abs(found[k] - differences[k][i]) < 1e-6 * most);
      }
    }
  }
}
