// SPDX-License-Identifier: Apache-2.0
// A whole step of equilibrium propagation on a deep resistive network, in ngspice and here: the netlist's own elements
// obey Kirchhoff's law at ngspice's voltages, and voltages, half squared drops and gradient are ours.
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "circuits/spice/exports.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/circuits/resistive_networks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/resistive/resistive_gradient.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using Net = ResistiveNetwork;

/// A held node is |I|/G_on off 0, 1e-9 of the voltage that it would take, and so is what hangs on it; ngspice iterates to
/// 1e-12 and solves in double. A few such nodes add up.
constexpr double kSpice = 1e-8;

Matrix<double> spice_voltages(const std::filesystem::path& folder, const Net& net, const std::string& netlist) {
  run_ngspice(folder, netlist);
  std::ifstream data(folder / "nodes.data");
  double scale = 0;
  REQUIRE(data >> scale);
  Matrix<double> v(1, net.cols());
  for (Index i = 0; i < v.cols(); ++i) REQUIRE(data >> v(0, i));
  return v;
}

struct Line {
  std::string name, plus, minus;
  std::vector<std::string> rest;
};

std::vector<Line> elements(const std::string& netlist) {
  std::istringstream text(netlist);
  std::vector<Line> all;
  std::string one;
  std::getline(text, one);  // the title
  while (std::getline(text, one) && one[0] != '.') {
    std::istringstream words(one);
    Line line;
    words >> line.name >> line.plus >> line.minus;
    for (std::string word; words >> word;) line.rest.push_back(word);
    all.push_back(line);
  }
  return all;
}

/// Sums the currents of the netlist's elements into every node of the network at the voltages v, by the elements' own laws
/// and values alone. Returns the largest |sum| over the largest current into that node.
double worst_kirchhoff(const Net& net, const std::string& netlist, const Matrix<double>& v) {
  std::map<std::string, double> volts{{"0", 0.0}}, sum, largest, drawn;
  for (Index l = 1; l <= net.depth(); ++l) {
    for (Index j = 0; j < net.width(l); ++j) {
      volts["n" + std::to_string(l) + "_" + std::to_string(j)] = v(0, net.columns(l).begin + j);
    }
  }
  const auto all = elements(netlist);
  for (const Line& e : all) {  // voltages that sources set: inputs and rails, then amplifiers, then their terminals
    if (e.name[0] == 'v' && e.name[1] != 'a') volts[e.plus] = std::stod(e.rest[1]);
  }
  for (const Line& e : all) {
    if (e.name[0] == 'e') volts[e.plus] = std::stod(e.rest[2]) * volts.at(e.rest[0]);
  }
  for (const Line& e : all) {
    if (e.name.substr(0, 2) == "va") volts[e.minus] = volts.at(e.plus);
  }
  const auto flow = [&](const std::string& from, const std::string& to, double current) {
    sum[from] -= current;
    sum[to] += current;
    for (const auto& node : {from, to}) largest[node] = std::max(largest[node], std::abs(current));
  };
  const auto across = [&](const Line& e) { return volts.at(e.plus) - volts.at(e.minus); };
  for (const Line& e : all) {
    if (e.name[0] == 'r') flow(e.plus, e.minus, across(e) / std::stod(e.rest[0]));
    if (e.name[0] == 'i') flow(e.plus, e.minus, std::stod(e.rest[1]));
    if (e.name[0] == 'g') flow(e.plus, e.minus, std::stod(e.rest[2]) * (volts.at(e.rest[0]) - volts.at(e.rest[1])));
    if (e.name[0] == 'b') {  // "i=v(n)", "<" or ">", "0", "?", "G_on*v(n)", ":", "0"
      const double at = volts.at(e.plus);
      REQUIRE((e.rest[1] == "<" || e.rest[1] == ">"));
      if (e.rest[1] == "<" ? at < 0 : at > 0) flow(e.plus, e.minus, std::stod(e.rest[4]) * at);
    }
  }
  for (const Line& e : all) {  // what a terminal lost is drawn from its amplifier, and 1/A of it from the node
    if (e.name[0] == 'f') {
      const std::string terminal = "t" + e.rest[0].substr(2);
      flow(e.plus, e.minus, std::stod(e.rest[1]) * -sum[terminal]);
    }
  }
  double worst = 0;
  for (Index l = 1; l <= net.depth(); ++l) {
    for (Index j = 0; j < net.width(l); ++j) {
      const std::string node = "n" + std::to_string(l) + "_" + std::to_string(j);
      worst = std::max(worst, std::abs(sum[node]) / std::max(largest[node], 1e-300));
    }
  }
  return worst;
}

/// Σ over the samples of ½ d² of the resistor between node i of layer l − 1 and node j of layer l.
double half_square(const Net& net, const Matrix<double>& sources, const Matrix<double>& v, Index l, Index i, Index j) {
  double sum = 0;
  for (Index b = 0; b < v.rows(); ++b) {
    const double below = l == 1 ? sources(b, i) : v(b, net.columns(l - 1).begin + i);
    sum += 0.5 * std::pow(net.gain(l - 1) * below - v(b, net.columns(l).begin + j), 2);
  }
  return sum;
}

void whole_step(const ResistiveMake& make, double beta) {
  const Net net = make_resistive(make);
  CAPTURE(make.seed);
  constexpr Index samples = 2;
  const Matrix<double> sources = make_sources(net, samples, 95);
  const Matrix<double> y = random_matrix<double>(samples, net.width(net.depth()), 96);
  const ResistiveSolver solver(net);
  const TemporaryDirectory folder;
  std::map<double, Matrix<double>> ours, theirs;
  std::size_t held = 0;
  for (const double sign : {0.0, 1.0, -1.0}) {
    const ResistiveNudge nudge{sign * beta, y};
    const ResistiveState state = solver.solve(sources, nudge);
    ours[sign] = state.voltages;
    theirs[sign].resize(samples, net.cols());
    for (Index b = 0; b < samples; ++b) {
      for (const bool free : state.free[static_cast<std::size_t>(b)]) held += free ? 0 : 1;
      const std::string netlist = resistive_netlist(net, sources.row(b), {nudge.beta, y.row(b)}, "nodes.data");
      theirs[sign].row(b) = spice_voltages(folder.path(), net, netlist);
      CHECK(relative_error(theirs[sign].row(b), ours[sign].row(b)) < kSpice);
      CHECK(worst_kirchhoff(net, netlist, theirs[sign].row(b)) < 1e-10);  // of the largest current, by ngspice's reltol
    }
  }
  CHECK((held > 0 || net.depth() == 1));  // or the diodes were not tried
  ResistiveGradient gradient = zero_gradient(net);
  const double scale = 0.5 / (beta * static_cast<double>(samples));
  accumulate_half_squares(net, sources, ours[1], ours[-1], scale, gradient);
  for (Index l = 1; l <= net.depth(); ++l) {
    const Matrix<double>& g = gradient[static_cast<std::size_t>(l - 1)].conductance;
    Matrix<double> measured(g.rows(), g.cols()), up(g.rows(), g.cols()), up_ours(g.rows(), g.cols());
    for (Index i = 0; i < g.rows(); ++i) {
      for (Index j = 0; j < g.cols(); ++j) {
        up(i, j) = half_square(net, sources, theirs[1], l, i, j);
        up_ours(i, j) = half_square(net, sources, ours[1], l, i, j);
        measured(i, j) = scale * net.factor(l) / net.factor(net.depth()) *
                         (up(i, j) - half_square(net, sources, theirs[-1], l, i, j));
      }
    }
    CHECK(relative_error(up, up_ours) < 2 * kSpice);  // of a square: twice that of the voltage
    // The two phases differ by a part β/G of their voltages: the errors of ½ d² count G/β times as much, here below 50.
    CHECK(relative_error(measured, g) < 2 * kSpice * 50);
  }
}

}  // namespace

TEST_CASE("spice: a whole step on a deep resistive network is ngspice's", "[spice]") {
  if (!ngspice_installed()) return;
  const std::vector<ResistiveMake> kinds = resistive_kinds();
  whole_step(kinds[0], 0.1);     // no hidden layer
  whole_step(kinds[1], 0.1);     // no amplifiers, current sources
  whole_step(kinds[2], 0.1e-5);  // amplifiers and rails, 10 µS
  whole_step(kinds[3], 0.1e-5);  // four layers, one with a single node, gains above and below 1
}

TEST_CASE("spice: the check of Kirchhoff's law on a netlist sees a wrong voltage and a wrong element", "[spice]") {
  const Net net = make_resistive(resistive_kinds()[2]);
  const Matrix<double> sources = make_sources(net, 1, 97);
  const ResistiveState state = ResistiveSolver(net).solve(sources);
  std::string netlist = resistive_netlist(net, sources, {}, "nodes.data");
  Matrix<double> v = state.voltages;
  const Matrix<double> diode = diode_currents(net, sources, state);
  for (Index l = 1; l < net.depth(); ++l) {  // the exported diode takes its current at I/G_on
    for (Index j = net.columns(l).begin; j < net.columns(l).end(); ++j) {
      v(0, j) -= diode(0, j) / (1e12 * net.node_conductance()(0, j));
    }
  }
  const double right = worst_kirchhoff(net, netlist, v);
  CHECK(right < 1e-7);  // the neighbours of a held node were left where they are: 1e-9 of its voltage
  v(0, net.cols() - 1) *= 1.001;
  CHECK(worst_kirchhoff(net, netlist, v) > 1e-5);
  v(0, net.cols() - 1) /= 1.001;
  const auto at = netlist.find("fa1_0");
  REQUIRE(at != std::string::npos);
  netlist.erase(at, netlist.find('\n', at) + 1 - at);  // an amplifier that does not load its node
  CHECK(worst_kirchhoff(net, netlist, v) > 1e-3);
}
