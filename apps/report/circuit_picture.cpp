// SPDX-License-Identifier: Apache-2.0
// A circuit as a graph: width and shade of a wire say its conductance or power, the shade of a node its voltage.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/pictures.hpp"
#include "apps/report/sections.hpp"
#include "apps/report/svg_chart.hpp"
#include "netlist/operating_point.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "training/config/learnt_netlist.hpp"

namespace nudge::report {
namespace {

constexpr std::size_t kMostNodes = 400;  // more are a cloud on a page, and take their third power to place

std::vector<double> voltages(const Netlist& netlist) {
  const NodalEquations equations(netlist);
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  const OperatingPoint found = solver.solve(equations.values(), {}, x);
  if (found.status != Status::converged) throw NumericalFailure(describe_failure(equations, found));
  return x;
}

/// True for elements that carry a current from their first node to their second; others are not drawn.
bool carries(const Element& e) {
  return has_resistance(e.kind) || e.kind == ElementKind::diode || e.kind == ElementKind::mosfet ||
         e.kind == ElementKind::bipolar || has_branch(e.kind);
}

std::pair<int, int> ends(const Element& e) {
  const bool transistor = e.kind == ElementKind::mosfet || e.kind == ElementKind::bipolar;
  return std::pair(e.nodes[0], e.nodes[transistor ? 2 : 1]);
}

/// Conductance (current over voltage) and power of elements without a source; 0 for others. Without a voltage the
/// conductance is the slope.
std::pair<double, double> load(const Element& e, const std::vector<double>& v) {
  const auto at = [&](int node) { return node == kGround ? 0.0 : v[static_cast<std::size_t>(node)]; };
  const auto [from, to] = ends(e);
  const double drop = at(from) - at(to);
  if (e.kind == ElementKind::resistor) return {1 / e.value, drop * drop / e.value};
  CurrentSlope found;
  if (e.kind == ElementKind::curved_resistor) {
    const ConductorLaw::Point p = e.memristor->curve->at(1 / e.value, drop);
    found = {p.current, p.by_volts};
  } else if (e.kind == ElementKind::diode) {
    found = e.junction.at(drop);
  } else if (e.kind == ElementKind::mosfet) {
    const MosfetLaw::Point p = e.mosfet.at(at(e.nodes[1]) - at(e.nodes[2]), drop, at(e.nodes[3]) - at(e.nodes[2]));
    found = {p.current, p.by_drain};
  } else if (e.kind == ElementKind::bipolar) {
    const BipolarLaw::Point p = e.bipolar->at(at(e.nodes[1]) - at(e.nodes[2]), at(e.nodes[1]) - at(e.nodes[0]));
    found = {p.collector, -p.collector_by_bc};
  } else {
    return {0, 0};
  }
  return {std::abs(drop) > 1e-9 ? found.current / drop : found.slope, found.current * drop};
}

CircuitPicture picture_of(const LearntNetlist& learnt) {
  CircuitPicture out;
  const Netlist& netlist = learnt.after;
  const std::vector<double> before = voltages(learnt.before), after = voltages(learnt.after);
  std::vector<int> spot(netlist.nodes.size(), -1);
  const auto spot_of = [&](int node) {
    if (node == kGround) return -1;
    const auto i = static_cast<std::size_t>(node);
    if (spot[i] < 0) {
      spot[i] = static_cast<int>(out.spots.size());
      out.spots.push_back({netlist.nodes[i], 0, 0, before[i], after[i]});
    }
    return spot[i];
  };
  std::vector<std::pair<int, int>> edges;
  for (std::size_t k = 0; k < netlist.elements.size(); ++k) {
    const Element& e = netlist.elements[k];
    auto [from, to] = ends(e);
    const bool sets = e.kind == ElementKind::voltage && (from == kGround || to == kGround);
    if (!carries(e) || sets || from == to) continue;
    if (from == kGround) std::swap(from, to);
    const auto [g0, p0] = load(learnt.before.elements[k], before);
    const auto [g1, p1] = load(e, after);
    const bool learns = std::find(learnt.learned.begin(), learnt.learned.end(), k) != learnt.learned.end();
    out.wires.push_back({e.name, spot_of(from), spot_of(to), g0, g1, p0, p1, learns});
    if (to != kGround) edges.emplace_back(out.wires.back().from, out.wires.back().to);
  }
  const auto mark = [&](int node, bool CircuitSpot::*as) {  // if it is drawn
    if (node == kGround || spot[static_cast<std::size_t>(node)] < 0) return;
    out.spots[static_cast<std::size_t>(spot[static_cast<std::size_t>(node)])].*as = true;
  };
  for (const Element& e : netlist.elements) {
    if (e.kind != ElementKind::voltage) continue;
    if (e.nodes[1] == kGround) mark(e.nodes[0], &CircuitSpot::source);
    if (e.nodes[0] == kGround) mark(e.nodes[1], &CircuitSpot::source);
  }
  for (const NodePair& pair : learnt.outputs) {
    for (const int node : {pair.plus, pair.minus}) mark(node, &CircuitSpot::output);
  }
  if (out.spots.size() > kMostNodes) {
    return {
        {}, {}, fmt::format("The circuit is not drawn: it has {} nodes, more than {}.", out.spots.size(), kMostNodes)};
  }
  const Matrix<double> places = graph_layout(static_cast<int>(out.spots.size()), edges);
  for (std::size_t i = 0; i < out.spots.size(); ++i) {
    out.spots[i].x = places(static_cast<Index>(i), 0);
    out.spots[i].y = places(static_cast<Index>(i), 1);
  }
  return out;
}

}  // namespace

CircuitPicture load_circuit(const std::filesystem::path& run) {
  try {
    return picture_of(learnt_netlist(run));
  } catch (const UserError& error) {
    return {{}, {}, fmt::format("Its circuit is not drawn: {}.", error.what())};
  } catch (const NumericalFailure& error) {
    return {{}, {}, fmt::format("The circuit is not drawn: it has no operating point: {}.", error.what())};
  }
}

namespace {

constexpr int kRounds = 60;  // of majorisation, which changes little behind the first tens

/// Counts the edges between all pairs; for unconnected pairs one more than the largest count.
Matrix<double> distances(int nodes, const std::vector<std::pair<int, int>>& edges) {
  std::vector<std::vector<int>> next(static_cast<std::size_t>(nodes));
  for (const auto& [a, b] : edges) {
    next[static_cast<std::size_t>(a)].push_back(b);
    next[static_cast<std::size_t>(b)].push_back(a);
  }
  Matrix<double> d = Matrix<double>::Constant(nodes, nodes, -1);
  for (int from = 0; from < nodes; ++from) {
    std::vector<int> front{from};
    d(from, from) = 0;
    for (std::size_t at = 0; at < front.size(); ++at) {
      for (const int to : next[static_cast<std::size_t>(front[at])]) {
        if (d(from, to) >= 0) continue;
        d(from, to) = d(from, front[at]) + 1;
        front.push_back(to);
      }
    }
  }
  const double apart = d.maxCoeff() + 1;
  return (d.array() < 0).select(apart, d.array()).matrix();
}

Matrix<double> scaled(const Matrix<double>& d) {
  const Index n = d.rows();
  Matrix<double> gram = -0.5 * d.array().square().matrix();
  gram.rowwise() -= gram.colwise().mean().eval();
  gram.colwise() -= gram.rowwise().mean().eval();
  const SymmetricPairs pairs = symmetric_eigenpairs(gram);
  Matrix<double> x(n, 2);
  for (Index k = 0; k < 2; ++k) {
    const Index at = n - 1 - k;
    Eigen::VectorXd axis = pairs.vectors.col(at) * std::sqrt(std::max(pairs.values(at), 0.0));
    Index largest = 0;  // whose sign the numerics leave open
    axis.cwiseAbs().maxCoeff(&largest);
    if (axis(largest) < 0) axis = -axis;
    x.col(k) = axis;
  }
  // Nodes that see all others alike would lie on one place, from where nothing moves them.
  for (Index i = 0; i < n; ++i) {
    const double turn = 2.4 * static_cast<double>(i);
    x.row(i) += 0.01 * Eigen::RowVector2d(std::cos(turn), std::sin(turn));
  }
  return x;
}

/// Moves x_i ← Σ_j w_ij (x_j + d_ij (x_i − x_j)/|x_i − x_j|)/Σ_j w_ij, one node after the other.
void majorise(const Matrix<double>& d, Matrix<double>& x) {
  for (int round = 0; round < kRounds; ++round) {
    for (Index i = 0; i < x.rows(); ++i) {
      Eigen::RowVector2d sum = Eigen::RowVector2d::Zero();
      double weights = 0;
      for (Index j = 0; j < x.rows(); ++j) {
        if (j == i) continue;
        const Eigen::RowVector2d way = x.row(i) - x.row(j);
        const double w = 1 / (d(i, j) * d(i, j)), length = std::max(way.norm(), 1e-9);
        sum += w * (x.row(j) + d(i, j) / length * way);
        weights += w;
      }
      if (weights > 0) x.row(i) = sum / weights;
    }
  }
}

}  // namespace

Matrix<double> graph_layout(int nodes, const std::vector<std::pair<int, int>>& edges) {
  if (nodes < 2) return Matrix<double>::Constant(nodes, 2, 0.5);
  const Matrix<double> d = distances(nodes, edges);
  Matrix<double> x = scaled(d);
  majorise(d, x);
  x.rowwise() -= x.colwise().minCoeff().eval();
  const double width = x.maxCoeff();
  if (width > 0) x /= width;
  return x;
}

namespace {

constexpr double kWidth = 480, kMargin = 26, kSpan = kWidth - 2 * kMargin;
constexpr double kDecades = 3;  // what is less than the largest by more than these is drawn alike

/// Logarithmic scale for values of wires: a share of the range between the least value that is told apart and the
/// largest.
struct WireScale {
  double low = 0, high = 0;
  double share(double value) const {
    if (!(value > low) || !(high > low)) return value >= high && high > 0 ? 1 : 0;
    return std::min(1.0, std::log(value / low) / std::log(high / low));
  }
};

template <class Get>
WireScale scale_of(const CircuitPicture& picture, std::initializer_list<Get> all) {
  WireScale out;
  double least = INFINITY;
  for (const CircuitWire& wire : picture.wires) {
    for (const Get get : all) {
      const double v = wire.*get;
      out.high = std::max(out.high, v);
      if (v > 0) least = std::min(least, v);
    }
  }
  out.low = std::max(least, out.high * std::pow(10, -kDecades));
  return out;
}

/// Draws a wire from (x1, y1) to (x2, y2), thicker with its share of the scale, in another colour if it learns.
std::string stroke(double share, bool learns, double x1, double y1, double x2, double y2) {
  return fmt::format(
      R"(<line class="{}" stroke-linecap="round" stroke-width="{:.1f}" opacity="{:.2f}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
      learns ? "s0" : "s7", 0.8 + 4.2 * share, 0.2 + 0.8 * share, x1, y1, x2, y2);
}

/// Key of the wires, thin to thick, with the values at its ends. y: its place; what, unit: label of the values.
std::string wire_key(double y, const WireScale& scale, const std::string& what, const std::string& unit) {
  constexpr double begin = 120, end = 360;
  constexpr int steps = 12;
  std::string out;
  for (int s = 0; s < steps; ++s) {
    const double x = begin + (end - begin) * s / steps;
    out += stroke(static_cast<double>(s) / (steps - 1), true, x + 3, y, x + (end - begin) / steps - 3, y);
  }
  return out + label("tick", begin - 6, y + 4, "end", number(scale.low)) +
         label("tick", end + 6, y + 4, "start", number(scale.high)) +
         label("name", 0.5 * (begin + end), y + 20, "middle", what + " (" + unit + ")");
}

double x_of(const CircuitSpot& spot) { return kMargin + kSpan * spot.x; }

struct View {
  std::string title, note, what, unit;
  double CircuitWire::*wire;
  double CircuitSpot::*volts;
};

std::string spot_mark(const CircuitSpot& spot, double volts, double largest, double y) {
  const double share = largest > 0 ? std::abs(volts) / largest : 0, r = spot.source || spot.output ? 6.5 : 4.5;
  const std::string shape = spot.source ? fmt::format(R"(x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}")",
                                                      x_of(spot) - r, y - r, 2 * r, 2 * r)
                                        : fmt::format(R"(cx="{:.1f}" cy="{:.1f}" r="{:.1f}")", x_of(spot), y, r);
  const char* tag = spot.source ? "rect" : "circle";
  std::string out = fmt::format(R"(<{0} style="fill: var(--card); stroke: var(--ink); stroke-width: {1}" {2}/>)", tag,
                                spot.output ? 2.4 : 0.8, shape);
  out += fmt::format(R"(<{} class="{}" opacity="{:.2f}" {}><title>{}: {} V</title></{}>)", tag, volts < 0 ? "f0" : "f1",
                     0.95 * share, shape, escape(spot.name), number(volts), tag);
  return out;
}

std::string drawn(const CircuitPicture& picture, const WireScale& scale, const View& view) {
  double height = 0, largest = 0;
  for (const CircuitSpot& spot : picture.spots) {
    height = std::max(height, spot.y);
    largest = std::max({largest, std::abs(spot.before_V), std::abs(spot.after_V)});
  }
  const double tall = std::max(kSpan * height, 60.0);
  const auto y_of = [&](const CircuitSpot& spot) { return kMargin + tall - kSpan * spot.y; };
  std::string out;
  for (const CircuitWire& wire : picture.wires) {
    const CircuitSpot& a = picture.spots[static_cast<std::size_t>(wire.from)];
    const double share = scale.share(wire.*view.wire), x = x_of(a), y = y_of(a);
    if (wire.to < 0) {  // to ground: a stub with a bar
      out += stroke(share, wire.learns, x, y, x, y + 16) + line("axis", x - 5, y + 16, x + 5, y + 16);
    } else {
      const CircuitSpot& b = picture.spots[static_cast<std::size_t>(wire.to)];
      out += stroke(share, wire.learns, x, y, x_of(b), y_of(b));
    }
  }
  const bool few = picture.spots.size() <= 60;
  for (const CircuitSpot& spot : picture.spots) {
    out += spot_mark(spot, spot.*view.volts, largest, y_of(spot));
    if (few || spot.source || spot.output) out += label("tick", x_of(spot), y_of(spot) - 9, "middle", spot.name);
  }
  const double bottom = 2 * kMargin + tall + 12;
  out += wire_key(bottom, scale, view.what, view.unit);
  std::string csv = "element,from,to,learns," + view.unit + "\n";
  for (const CircuitWire& wire : picture.wires) {
    csv += fmt::format("{},{},{},{},{:.6g}\n", wire.name, picture.spots[static_cast<std::size_t>(wire.from)].name,
                       wire.to < 0 ? "0" : picture.spots[static_cast<std::size_t>(wire.to)].name, wire.learns ? 1 : 0,
                       wire.*view.wire);
  }
  return figure(view.title, "", kWidth, bottom + 28, out, view.note, csv);
}

}  // namespace

std::string circuit_figures(const CircuitPicture& picture) {
  if (!picture.missing.empty()) return paragraph(picture.missing);
  if (picture.spots.empty()) return "";
  const WireScale siemens = scale_of(picture, {&CircuitWire::before_S, &CircuitWire::after_S});
  const WireScale watts = scale_of(picture, {&CircuitWire::after_W});
  const std::string marks =
      "Squares: set by a source. Thick rims: outputs. Blue wires learn. Orange nodes are above ground, blue ones "
      "below; the darker, the farther. ";
  const std::string out = drawn(picture, siemens,
                                {"The circuit before training", marks + "Sources have their values of the netlist.",
                                 "conductance", "S", &CircuitWire::before_S, &CircuitSpot::before_V}) +
                          drawn(picture, siemens,
                                {"The circuit after training", "Wires and nodes have the same scale.", "conductance",
                                 "S", &CircuitWire::after_S, &CircuitSpot::after_V}) +
                          drawn(picture, watts,
                                {"Where its power goes, after training",
                                 "For the same sources. The power of the sources themselves is "
                                 "not shown.",
                                 "power", "W", &CircuitWire::after_W, &CircuitSpot::after_V});
  return grid(out);
}

}  // namespace nudge::report
