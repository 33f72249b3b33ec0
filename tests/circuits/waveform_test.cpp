// SPDX-License-Identifier: Apache-2.0
// Transients of sources that follow PULSE, SIN, EXP and PWL: against closed forms of RC circuits, and against ngspice.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "netlist/branch_states.hpp"
#include "netlist/inductor_states.hpp"
#include "netlist/netlist_file.hpp"
#include "netlist/transient.hpp"
#include "sim/base/errors.hpp"
#include "tests/circuits/ngspice.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

Netlist netlist_of(const std::string& text) {
  return parse_netlist("t.cir", text,
                       [](const std::string&, const std::string&, std::string&) { return std::string(); });
}

std::vector<double> voltage(const NodalEquations& equations, const StepResponse& found, const std::string& name) {
  const auto i = static_cast<std::size_t>(find_node(equations.netlist(), name));
  std::vector<double> out;
  for (const auto& v : found.volts) out.push_back(v[i]);
  return out;
}

/// v of v' = (e − v)/τ at the end of straight lines of e, from v = e at the first point.
double charged(const std::vector<std::pair<double, double>>& lines, double tau, double t) {
  double v = lines.front().second;
  for (std::size_t k = 0; k + 1 < lines.size() && lines[k].first < t; ++k) {
    const double slope = (lines[k + 1].second - lines[k].second) / (lines[k + 1].first - lines[k].first);
    const double passed = std::min(t, lines[k + 1].first) - lines[k].first;
    const double e = lines[k].second + slope * passed;
    v = e - slope * tau + (v - lines[k].second + slope * tau) * std::exp(-passed / tau);
  }
  return v;
}

// Some hundred steps whose errors are 1e-6 each, of volts.
constexpr double kSteps = 2e-4;

}  // namespace

TEST_CASE("waveforms: a resistor and a capacitor follow straight lines and a sine as their equation says",
          "[transient]") {
  const double tau = 1e-6;
  struct One {
    const char* source;
    std::vector<std::pair<double, double>> lines;
  };
  const std::vector<One> all = {
      {"PULSE(0 2 0.5u 0.2u 0.4u 1u 4u)",
       {{0, 0},
        {0.5e-6, 0},
        {0.7e-6, 2},
        {1.7e-6, 2},
        {2.1e-6, 0},
        {4.5e-6, 0},
        {4.7e-6, 2},
        {5.7e-6, 2},
        {6.1e-6, 0},
        {8e-6, 0}}},
      {"DC 7 PWL(0 1 1u 1 2u -1 5u 3)", {{0, 1}, {1e-6, 1}, {2e-6, -1}, {5e-6, 3}, {8e-6, 3}}}};
  for (const One& one : all) {
    CAPTURE(one.source);
    const NodalEquations equations(netlist_of(fmt::format("t\nV1 a 0 {}\nR1 a b 1k\nC1 b 0 1n\n", one.source)));
    const StepResponse found = waveform_response(equations, {.stop_s = 8e-6});
    REQUIRE(found.status == Status::converged);
    CHECK(found.time_s.back() == 8e-6);
    CHECK(std::is_sorted(found.time_s.begin(), found.time_s.end()));
    const auto b = voltage(equations, found, "b");
    for (std::size_t k = 0; k < b.size(); ++k)
      CHECK(std::abs(b[k] - charged(one.lines, tau, found.time_s[k])) < kSteps);
  }
  // e = sin ωt from 0 on: v = (sin ωt − ωτ cos ωt + ωτ exp(−t/τ))/(1 + ω²τ²).
  const NodalEquations equations(netlist_of("t\nV1 a 0 SIN(0 1 200k)\nR1 a b 1k\nC1 b 0 1n\n"));
  const StepResponse found = waveform_response(equations, {.stop_s = 1e-5});
  const auto b = voltage(equations, found, "b");
  const double w = 2 * std::numbers::pi * 2e5, wt = w * tau;
  for (std::size_t k = 0; k < b.size(); ++k) {
    const double t = found.time_s[k];
    const double v = (std::sin(w * t) - wt * std::cos(w * t) + wt * std::exp(-t / tau)) / (1 + wt * wt);
    CHECK(std::abs(b[k] - v) < kSteps);
  }
}

TEST_CASE("waveforms: a source moves charge through a capacitor that hangs on it", "[transient]") {
  // v' = e' − v/τ: a ramp of 1 V/us gives τ (1 − exp(−t/τ)) V/us, and behind it what is left decays.
  const NodalEquations equations(netlist_of("t\nV1 a 0 PWL(0 0 2u 2)\nC1 a b 1n\nR1 b 0 1k\n"));
  const StepResponse found = waveform_response(equations, {.stop_s = 5e-6});
  const auto b = voltage(equations, found, "b");
  for (std::size_t k = 0; k < b.size(); ++k) {
    const double t = found.time_s[k] / 1e-6, top = 1 - std::exp(-std::min(t, 2.0));
    CHECK(std::abs(b[k] - (t < 2 ? top : top * std::exp(-(t - 2)))) < kSteps);
  }
}

TEST_CASE("waveforms: transients are ngspice's", "[transient][ngspice]") {
  if (!ngspice_installed()) return;
  struct One {
    const char* text;
    double stop_s;
  };
  const std::vector<One> all = {
      {"rectifier\nV1 a 0 SIN(0.2 2 50k 2u 1e4 30)\nD1 a b dd\nC1 b 0 1n\nR1 b 0 20k\nRa a 0 1k\n.model dd D(is=1n "
       "n=1.2)\n",
       6e-5},
      {"inverter\nVd d 0 2\nRd d o 50k\nM1 o g 0 0 nn W=2u L=1u\nVg g 0 PULSE(0 1.5 1u 0.5u 0.5u 4u 10u)\nCo o 0 "
       "1p\nCg g o 0.2p\n"
       ".model nn NMOS(VTO=0.4 KP=80u LAMBDA=0.03)\n",
       2.5e-5},
      {"currents\nI1 0 a PWL(0 0 1u 1m 2u -1m 4u 0.5m)\nR1 a 0 1k\nC1 a 0 300p\nR2 a b 2k\nC2 b 0 200p\n"
       "V2 c 0 EXP(0 1 1u 0.7u 3u 0.4u)\nR3 c b 5k\n",
       6e-6},
      {"transformer\nV1 a 0 PULSE(0 1 1u 50n 50n 3u 8u)\nR1 a b 50\nL1 b 0 100u\nL2 c d 400u\nK1 L1 L2 0.95\nRd d 0 "
       "1\nR2 c 0 "
       "1k\nC2 c 0 100p\nL3 c e 20u\nRe e 0 300\n",
       2e-5},
      {"junctions\nV1 a 0 SIN(-1 2 200k)\nR1 a b 10k\nD1 b 0 dd\n.model dd D(is=1f cjo=20p vj=0.7 m=0.4 tt=20n)\n"
       "R2 a d 20k\nD2 0 d dd\n",
       1e-5},
      {"overlaps\nVd d 0 2\nRd d o 20k\nM1 o g 0 b nn W=20u L=2u AD=200p PD=50u\nVg g 0 PULSE(0 1.5 1u 0.2u 0.2u 4u "
       "10u)\n"
       "Vb b 0 -0.5\nRs d s 10k\nM2 0 o s d pp W=20u L=2u\n.model nn NMOS(VTO=0.4 KP=80u GAMMA=0.4 PHI=0.7 CGSO=1n "
       "CGDO=1n CJ=2m MJ=0.4 CJSW=1n PB=0.9)\n.model pp PMOS(VTO=-0.5 KP=40u GAMMA=0.3 CBD=0.2p CBS=0.4p CGDO=0.5n)\n",
       2e-5},
      {"expressions\nV1 a 0 SIN(0 1 100k)\nR1 a b 1k\nC1 b 0 1n\nB1 b c i=0.2m*tanh(3*v(b,c))\nC2 c 0 200p\nR2 c 0 "
       "10k\nQ1 q c e nn\nRe e 0 1k\nRq s q 1k\nVs s 0 3\n.model nn npn(is=1f bf=80 cje=5p cjc=3p)\n",
       3e-5},
      {"sources of voltage by expressions\nV1 a 0 SIN(0 1 100k)\nR1 a b 1k\nC1 b 0 1n\nE1 c 0 "
       "value={2*tanh(2*v(b))}\nR2 c d "
       "1k\nC2 d 0 300p\nH1 e d V1 200\nR3 e f 2k\nC3 f 0 100p\nB1 g 0 v=v(f)+100*i(V1)\nR4 g 0 1k\n",
       3e-5}};
  const TemporaryDirectory folder;
  for (const One& one : all) {
    CAPTURE(one.text);
    const NodalEquations equations(with_inductor_currents(with_branch_states(netlist_of(one.text))));
    const StepResponse found = waveform_response(equations, {.stop_s = one.stop_s});
    REQUIRE(found.status == Status::converged);
    auto names = equations.netlist().nodes;
    std::erase_if(names, [](const std::string& name) { return name.ends_with("#u") || name.ends_with("#m"); });
    for (std::string& name : names) {  // of an inductor the current over g, a volt for a milliampere
      const bool current = name.ends_with("#i");
      name = current ? fmt::format("i({})", name.substr(0, name.size() - 2)) : fmt::format("v({})", name);
    }
    std::string commands;
    std::vector<std::size_t> steps;
    for (std::size_t k = found.time_s.size() / 12; k + 1 < found.time_s.size(); k += found.time_s.size() / 12) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        commands += fmt::format("meas tran m{}_{} find {} at={:.12g}\n", k, i, names[i], found.time_s[k]);
      }
      steps.push_back(k);
    }
    REQUIRE(steps.size() >= 8);
    std::string text =
        std::string(one.text) + ".options reltol=1e-7 abstol=1e-15 vntol=1e-9\n.control\nset numdgt=12\n";
    text += fmt::format("tran {0:g} {1:g} 0 {0:g}\n", one.stop_s / 20000, one.stop_s);
    const std::string log = run_ngspice(folder.path(), text + commands + "quit 0\n.endc\n.end\n");
    double largest = 0;
    for (const auto& v : found.volts) {
      for (const double volts : v) largest = std::max(largest, std::abs(volts));
    }
    for (const std::size_t k : steps) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        auto at = log.find(fmt::format("m{}_{}", k, i));
        REQUIRE(at != std::string::npos);
        at = log.find('=', at) + 1;
        CAPTURE(names[i], found.time_s[k]);
        const double unit = names[i].front() == 'i' ? kGyrator_S : 1;
        CHECK(std::abs(std::stod(log.substr(at)) / unit - found.volts[k][i]) < 1e-3 * largest);
      }
    }
  }
}

TEST_CASE("waveforms: what is missing or wrong is said, and written back is read again", "[transient]") {
  const auto run = [](const char* source) {
    return waveform_response(NodalEquations(netlist_of(fmt::format("t\nV1 a 0 {}\nR1 a b 1k\nC1 b 0 1n\n", source))),
                             {.stop_s = 1e-5});
  };
  CHECK_THROWS_WITH(run("PULSE(0 1 0 0 1u)"), Catch::Contains("t.cir:2:1: v1: TR, PW must be there"));
  CHECK_THROWS_WITH(run("SIN(0 1)"), Catch::Contains("FREQ must be there"));
  CHECK_THROWS_WITH(run("PULSE(0 1 0 1f 1f 1f 4f)"), Catch::Contains("jumps more than 100000 times"));
  CHECK_THROWS_WITH(netlist_of("t\nV1 a 0 PWL(0 0 1u 1 1u 2)\nR1 a 0 1\n"),
                    Catch::Contains("the times of PWL must rise"));
  CHECK_THROWS_WITH(netlist_of("t\nV1 a 0 PWL(0 0 1u)\nR1 a 0 1\n"), Catch::Contains("a time without a value"));
  const Netlist first = netlist_of("t\nV1 a 0 DC 3 PULSE(0 1 1u 1u 1u 2u 9u)\nR1 a 0 1k\n");
  const Netlist again = netlist_of(netlist_text(first, "note"));
  CHECK(again.elements[0].wave.numbers == first.elements[0].wave.numbers);
  CHECK(again.elements[0].value == 3);
}
