// SPDX-License-Identifier: Apache-2.0
// Switches over time: they turn at their thresholds and keep their state between; converters without capacitances at their nodes.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "netlist/branch_states.hpp"
#include "netlist/inductor_states.hpp"
#include "netlist/netlist_file.hpp"
#include "netlist/switch_states.hpp"
#include "netlist/transient.hpp"
#include "tests/circuits/ngspice.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

NodalEquations switched_equations(const std::string& text) {
  const auto none = [](const auto&, const auto&, auto&) { return std::string(); };
  return NodalEquations(
      with_inductor_currents(with_switch_states(with_branch_states(parse_netlist("t.cir", text, none)))));
}

/// Times at which a voltage crosses a level, between the steps that it lies between.
std::vector<double> crossings(const NodalEquations& equations, const StepResponse& found, const char* node,
                              double level) {
  const auto i = static_cast<std::size_t>(find_node(equations.netlist(), node));
  std::vector<double> all;
  for (std::size_t k = 1; k < found.time_s.size(); ++k) {
    const double a = found.volts[k - 1][i], b = found.volts[k][i];
    if ((a < level) == (b < level)) continue;
    all.push_back(found.time_s[k - 1] + (level - a) / (b - a) * (found.time_s[k] - found.time_s[k - 1]));
  }
  return all;
}

}  // namespace

TEST_CASE("switches over time: a control that swings turns them at VT + VH and VT - VH", "[transient][switch]") {
  const double rise = std::asin(0.6), fall = std::numbers::pi + std::asin(0.2);  // 3 V and -1 V of 5 V
  for (const char* card : {"s1 out 0 in 0 sw1\n.model sw1 sw(vt=1 vh=2 ron=10 roff=1meg)\n",
                           "w1 out 0 vm sw1\n.model sw1 csw(it=1m ih=2m ron=10 roff=1meg)\n"}) {
    CAPTURE(card);
    const NodalEquations equations = switched_equations(
        fmt::format("t\nv1 in 0 sin(0 5 1k)\nvm in x 0\nr0 x 0 1k\nr1 vdd out 1k\nvdd vdd 0 3\nc1 out 0 1p\n{}", card));
    const StepResponse found = waveform_response(equations, {.stop_s = 3e-3});
    REQUIRE(found.status == Status::converged);
    const std::vector<double> at = crossings(equations, found, "out", 1.5);
    REQUIRE(at.size() == 6);
    for (std::size_t k = 0; k < at.size(); ++k) {
      const double expected = ((k % 2 == 0 ? rise : fall) / (2 * std::numbers::pi) + static_cast<double>(k / 2)) * 1e-3;
      CHECK(at[k] == Approx(expected).margin(5e-9));  // 1 kOhm times 1 pF, and the error of the integrator
    }
  }
}

TEST_CASE("switches over time: a relaxation oscillator has the period of its exponentials", "[transient][switch]") {
  const NodalEquations equations = switched_equations(
      "t\nvdd vdd 0 5\nr1 vdd c 10k\nc1 c 0 10n\ns1 c 0 c 0 sw1\n.model sw1 sw(vt=2 vh=1 ron=100 roff=1e12)\n");
  const StepResponse found = step_response(equations, {.stop_s = 1e-3});
  const std::vector<double> at = crossings(equations, found, "c", 2);
  REQUIRE(at.size() > 22);
  // 1 to 3 V through 10 kOhm towards 5 V, and back through 100 Ohm beside them towards 5/101 V.
  const double up = 1e-4 * std::log(2), end = 5 / 101.0, down = 1e-4 / 101 * std::log((3 - end) / (1 - end));
  CHECK((at[21] - at[1]) / 10 == Approx(up + down).epsilon(1e-4));  // ten periods of steps with errors of 1e-6
}

TEST_CASE("switches over time: one that turns itself back has no operating point, and begins as it is drawn",
          "[transient][switch]") {
  const std::string text =
      "t\nvdd vdd 0 5\nrp vdd out 1k\nr1 out c 10k\nc1 c 0 10n\ns1 out 0 c 0 sw1{}\n.model sw1 sw(vt=2 vh=1 ron=1 "
      "roff=1e9)\n";
  for (const char* drawn : {"", " on"}) {
    CAPTURE(drawn);
    const NodalEquations equations = switched_equations(fmt::format(fmt::runtime(text), drawn));
    const StepResponse at_once = step_response(equations, {.stop_s = 1e-3});
    REQUIRE(at_once.turning >= 0);
    CHECK(equations.netlist().elements[static_cast<std::size_t>(at_once.turning)].name == "s1");
    CHECK(at_once.end_V.empty());
    CHECK(at_once.status == Status::max_steps);
    const StepResponse found = waveform_response(equations, {.stop_s = 2e-3});
    REQUIRE(found.status == Status::converged);
    CHECK(found.turning == at_once.turning);
    const auto c = static_cast<std::size_t>(find_node(equations.netlist(), "c"));
    // Open 5 V, closed 5 V times 1/1001; each beyond the threshold that turns it.
    CHECK(found.volts.front()[c] == Approx(*drawn == 0 ? 5.0 : 5.0 / 1001).epsilon(1e-6));
    // Up from 1 to 3 V by 11 kOhm towards 5 V, down by 10 kOhm towards 5/1001 V. Steps have errors of 1e-6.
    const std::vector<double> at = crossings(equations, found, "c", 2);
    REQUIRE(at.size() > 13);
    const double up = 1.1e-4 * std::log(2), end = 5 / 1001.0, down = 1.0001e-4 * std::log((3 - end) / (1 - end));
    CHECK((at[11] - at[1]) / 5 == Approx(up + down).epsilon(2e-4));  // 1 Ohm beside 1 kOhm in 10 kOhm: 1e-4
  }
}

TEST_CASE("switches over time: .ic holds its nodes until the beginning", "[transient][switch][ngspice]") {
  if (!ngspice_installed()) return;
  const std::string text =
      "t\nv1 a 0 sin(0 1 1k)\nr1 a b 1k\nc1 b 0 100n\nr2 b c 10k\nd1 c 0 dd\nc2 c 0 20n\nl1 b e 10m\nr3 e 0 100\n"
      ".model dd d(is=1n)\n.ic v(b)=3 v(c)=-2\n";
  const NodalEquations equations = switched_equations(text);
  const StepResponse found = waveform_response(equations, {.stop_s = 1e-3});
  REQUIRE(found.status == Status::converged);
  const auto b = static_cast<std::size_t>(find_node(equations.netlist(), "b"));
  // 30 mA through the coil hang on the source of 1e4 S that holds the node.
  CHECK(found.volts.front()[b] == Approx(3).epsilon(1e-5));
  std::string commands = ".options reltol=1e-6 abstol=1e-14 vntol=1e-9\n.control\nset numdgt=12\ntran 0.1u 1m 0 0.1u\n";
  std::vector<std::size_t> steps;
  for (std::size_t k = found.time_s.size() / 8; k + 1 < found.time_s.size(); k += found.time_s.size() / 8) {
    commands += fmt::format("meas tran m{} find v(b) at={:.12g}\n", k, found.time_s[k]);
    steps.push_back(k);
  }
  const TemporaryDirectory folder;
  const std::string log = run_ngspice(folder.path(), text + commands + "quit 0\n.endc\n.end\n");
  for (const std::size_t k : steps) {
    auto at = log.find(fmt::format("m{} ", k));
    REQUIRE(at != std::string::npos);
    at = log.find('=', at) + 1;
    CAPTURE(found.time_s[k]);
    // The node rings from 3 V: 1e-3 of that, as all transients beside ngspice.
    CHECK(std::stod(log.substr(at)) == Approx(found.volts[k][b]).margin(3e-3));
  }
}

TEST_CASE("switches over time: a converter whose switched node has no capacitance", "[transient][switch]") {
  // Ideal but for 1 mOhm and a diode of 1 nA: the output's mean is D V_in less what these lose, and its ripple (1 − D) T² V/(8 L C).
  constexpr double kShare = 0.4, kIn_V = 10, kPeriod_s = 1e-5, kInductance_H = 1e-4, kCapacitance_F = 2e-5;
  const NodalEquations equations = switched_equations(
      "t\nv1 in 0 10\nvc clk 0 pulse(0 5 0 1n 1n 3.999u 10u)\ns1 in sw clk 0 s\nd1 0 sw dd\nl1 sw out 100u\nc1 out 0 "
      "20u\nr1 out 0 5\n"
      ".model s sw(vt=2.5 vh=0.5 ron=1m roff=1g)\n.model dd d(is=1n)\n");
  const StepResponse found = waveform_response(equations, {.stop_s = 3e-3});
  REQUIRE(found.status == Status::converged);
  const auto i = static_cast<std::size_t>(find_node(equations.netlist(), "out"));
  double charge = 0, low = 1e9, high = 0;
  const double begin = 3e-3 - 20 * kPeriod_s;
  for (std::size_t k = 1; k < found.time_s.size(); ++k) {
    if (found.time_s[k - 1] < begin) continue;
    charge += (found.time_s[k] - found.time_s[k - 1]) * (found.volts[k][i] + found.volts[k - 1][i]) / 2;
    low = std::min(low, found.volts[k][i]);
    high = std::max(high, found.volts[k][i]);
  }
  const double diode_V =
      kSpiceThermal_V * std::log(0.73 / 1e-9);  // at the current of the load, which changes by 20 %: 5 mV
  const double mean_V = kShare * kIn_V - (1 - kShare) * diode_V;
  CHECK(charge / (3e-3 - begin) == Approx(mean_V).margin(0.01));
  const double ripple_V =
      (1 - kShare) * kPeriod_s * kPeriod_s * (mean_V + diode_V) / (8 * kInductance_H * kCapacitance_F);
  CHECK(high - low == Approx(ripple_V).epsilon(0.05));  // the slopes differ by the load's change
}

TEST_CASE("switches over time: a boost converter that runs out of current follows ngspice",
          "[transient][switch][ngspice]") {
  if (!ngspice_installed()) return;
  const std::string text =
      "t\nv1 in 0 5\nvc g 0 pulse(0 5 0 20n 20n 5u 10u)\nl1 in sw 22u\ns1 sw 0 g 0 sw1\nd1 sw out dd\nc1 out 0 10u\nr1 "
      "out 0 50\n"
      ".model sw1 sw(vt=2.5 vh=0 ron=50m roff=10meg)\n.model dd d(is=10n rs=20m n=1.1)\n";
  const NodalEquations equations = switched_equations(text);
  const StepResponse found = waveform_response(equations, {.stop_s = 3e-4});
  REQUIRE(found.status == Status::converged);
  const TemporaryDirectory folder;
  std::string commands = ".options reltol=1e-5 abstol=1e-13 vntol=1e-8\n.control\nset numdgt=12\ntran 50n 300u 0 50n\n";
  std::vector<std::size_t> steps;
  for (std::size_t k = found.time_s.size() / 12; k + 1 < found.time_s.size(); k += found.time_s.size() / 12) {
    commands += fmt::format("meas tran m{} find v(out) at={:.12g}\n", k, found.time_s[k]);
    steps.push_back(k);
  }
  const std::string log = run_ngspice(folder.path(), text + commands + "quit 0\n.endc\n.end\n");
  const auto i = static_cast<std::size_t>(find_node(equations.netlist(), "out"));
  REQUIRE(steps.size() >= 10);
  for (const std::size_t k : steps) {
    auto at = log.find(fmt::format("m{} ", k));
    REQUIRE(at != std::string::npos);
    at = log.find('=', at) + 1;
    CAPTURE(found.time_s[k]);
    CHECK(std::stod(log.substr(at)) == Approx(found.volts[k][i]).epsilon(1e-3));  // as all transients beside ngspice
  }
}

TEST_CASE("switches over time: a switch that is written back is the same switch", "[netlist][switch]") {
  const auto none = [](const auto&, const auto&, auto&) { return std::string(); };
  const Netlist first =
      parse_netlist("t.cir",
                    "t\nv1 in 0 1\nr1 in a 1k\ns1 a 0 in 0 sw1 on\nw1 a 0 v1 sw2\n.model sw1 sw(vt=1 vh=2 ron=10 "
                    "roff=1meg)\n.model sw2 csw(it=2m ih=1m ron=20 roff=2meg)\n",
                    none);
  const Netlist again = parse_netlist("t.cir", netlist_text(first, "again"), none);
  REQUIRE(again.elements.size() == first.elements.size());
  for (std::size_t k = 0; k < first.elements.size(); ++k) {
    if (!first.elements[k].formula) continue;
    const SwitchLaw &a = *first.elements[k].formula->switched, &b = *again.elements[k].formula->switched;
    CHECK(b.on_at == Approx(a.on_at).epsilon(1e-12));
    CHECK(b.off_at == Approx(a.off_at).epsilon(1e-12));
    CHECK(b.on_S == Approx(a.on_S).epsilon(1e-12));
    CHECK(b.off_S == Approx(a.off_S).epsilon(1e-12));
    CHECK(b.on == a.on);
  }
}
