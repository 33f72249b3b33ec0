// SPDX-License-Identifier: Apache-2.0
#include "netlist/transient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "netlist/algebraic_start.hpp"
#include "netlist/operating_point.hpp"
#include "netlist/switch_states.hpp"

namespace nudge {
namespace {

/// Limit on the jumps of slopes of waveforms.
constexpr std::size_t kMostJumps = 100000;

[[noreturn]] void no_start() {
  throw NumericalFailure(
      "no consistent start. Capacitors hang on each other alone, or nothing loads a node without one: give every node "
      "a capacitance to ground (--capacitance). Or a source by an expression drives a capacitance: put a resistor "
      "between");
}

/// Voltages of the nodes where the circuit rests, and the first switch that then turns itself back; −1: it rests.
struct Rest {
  std::vector<double> volts;
  int turning = -1;
};

/// Finds where a circuit rests by solve(values, volts), which solves with the switches as they are. Where they turn on and on, the point is the one
/// with the switches as they are drawn.
template <class Solve>
Rest find_rest(const Netlist& netlist, std::vector<double> values, const Solve& solve) {
  Rest rest;
  SwitchStates switches(netlist);
  for (std::size_t turns = 0; turns <= 2 * switches.size() + 1; ++turns) {
    switches.set(values);
    solve(values, rest.volts);
    if (!switches.follow(rest.volts.data())) return rest;
    switches.rest();
  }
  const SwitchStates drawn(netlist);
  drawn.set(values);
  solve(values, rest.volts);
  for (std::size_t k = 0; k < drawn.size() && rest.turning < 0; ++k) {
    const bool turns =
        drawn.closed(k) ? drawn.beyond(k, rest.volts.data()) < 0 : drawn.beyond(k, rest.volts.data()) >= 0;
    if (turns) rest.turning = static_cast<int>(netlist.switches[k].element);
  }
  return rest;
}

Rest operating_point(const NodalEquations& equations, std::vector<double> values) {
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  return find_rest(equations.netlist(), std::move(values), [&](const auto& of, std::vector<double>& volts) {
    const OperatingPoint found = solver.solve(of, {}, x);
    if (found.status != Status::converged) throw NumericalFailure(describe_failure(equations, found));
    volts.assign(x.begin(), x.begin() + equations.nodes());
  });
}

/// Where a circuit rests while the nodes of .ic are held at their voltages.
Rest held_point(const NodalEquations& equations, std::vector<double> values) {
  const Netlist& netlist = equations.netlist();
  std::map<int, double> held(netlist.held.begin(), netlist.held.end());
  std::vector<int> nodes;
  std::vector<double> start(static_cast<std::size_t>(equations.nodes()), 0.0);
  for (const auto& [node, volts] : held) {
    nodes.push_back(node);
    start[static_cast<std::size_t>(node)] = volts;
  }
  const AlgebraicStart pinned(equations, nodes);
  return find_rest(netlist, std::move(values), [&](const auto& of, std::vector<double>& volts) {
    volts = start;
    if (!pinned.solve(of, volts)) throw NumericalFailure("there is no operating point with the voltages of .ic");
  });
}

/// Finds the time after which every node stays within the band.
void find_end(StepResponse& out, double band) {
  double largest = 0;
  for (std::size_t i = 0; i < out.end_V.size(); ++i) {
    for (const auto& v : out.volts) largest = std::max(largest, std::abs(v[i] - out.end_V[i]));
  }
  const double limit = band * largest;
  std::size_t last = out.volts.size();
  const auto within = [&](const std::vector<double>& v) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (std::abs(v[i] - out.end_V[i]) > limit) return false;
    }
    return true;
  };
  while (last > 0 && within(out.volts[last - 1])) --last;
  if (last == out.volts.size()) {
    out.settled_s = out.time_s.back();
    if (out.status == Status::converged) out.status = Status::max_steps;
    return;
  }
  out.settled_s = out.time_s[last];
}

/// Times at which the slope of a waveform jumps, and the end.
std::vector<double> stretches(const Netlist& netlist, const std::vector<std::size_t>& waves, double stop) {
  std::vector<double> ends;
  for (const std::size_t k : waves) {
    const Element& e = netlist.elements[k];
    if (const std::string missing = e.wave.missing(); !missing.empty()) {
      throw UserError(fmt::format("{}: {}: {} must be there, and above 0 where it is a time or a frequency",
                                  to_string(e.place), e.name, missing));
    }
    if (!e.wave.breaks(stop, kMostJumps, ends)) {
      throw UserError(
          fmt::format("{}: {} jumps more than {} times in {:g} s", to_string(e.place), e.name, kMostJumps, stop));
    }
  }
  ends.push_back(stop);
  std::sort(ends.begin(), ends.end());
  const auto near = [stop](double a, double b) { return b - a < 1e-12 * stop; };
  ends.erase(std::unique(ends.begin(), ends.end(), near), ends.end());
  return ends;
}

/// Run of a netlist, and the data that its integrator keeps.
struct Run {
  Run(const NodalEquations& e, const StepResponseOptions& options)
      : nodes(e.nodes()),
        at(e, {}),
        matrices(e, at,
                 options.node_capacitance_F.empty() ? std::vector<double>(static_cast<std::size_t>(e.nodes()), 0.0)
                                                    : options.node_capacitance_F),
        transient(e, at, matrices, options.relative_error, options.absolute_error_V) {
    if (transient.charges()) return;
    throw UserError("nothing of the netlist has a capacitance that could charge (give every node one: --capacitance)");
  }

  void go(double begin, double end, StepResponse& out) {
    const TransientEnd how = transient.run(begin, end, [&](double t, const double* v) {
      out.time_s.push_back(t);
      out.volts.emplace_back(v, v + nodes);
    });
    if (how == TransientEnd::no_start) no_start();
    if (how == TransientEnd::stopped) {
      out.status = Status::stalled;
      out.jumping = transient.jumping();
    }
    out.jacobians = transient.jacobians();
  }

  int nodes;
  NodeCoordinates at;
  ReducedMatrices matrices;
  Transient transient;
};

}  // namespace

StepResponse step_response(const NodalEquations& equations, const StepResponseOptions& options) {
  StepResponse out;
  Rest rest = operating_point(equations, equations.values());
  out.turning = rest.turning;
  Run run(equations, options);
  if (!run.transient.start(std::vector<double>(static_cast<std::size_t>(equations.nodes()), 0.0))) no_start();
  run.go(0, options.stop_s, out);
  if (rest.turning >= 0) {
    if (out.status == Status::converged) out.status = Status::max_steps;
    return out;
  }
  out.end_V = std::move(rest.volts);
  find_end(out, options.band);
  return out;
}

StepResponse waveform_response(const NodalEquations& equations, const StepResponseOptions& options) {
  const std::vector<Element>& elements = equations.netlist().elements;
  std::vector<std::size_t> waves;
  for (std::size_t k = 0; k < elements.size(); ++k) {
    if (elements[k].wave.kind != Waveform::Kind::none) waves.push_back(k);
  }
  const std::vector<double> ends = stretches(equations.netlist(), waves, options.stop_s);
  StepResponse out;
  Run run(equations, options);
  run.transient.follow(waves);
  const std::vector<double>& values = run.transient.values();
  const Rest rest =
      equations.netlist().held.empty() ? operating_point(equations, values) : held_point(equations, values);
  out.turning = rest.turning;
  run.transient.start_at(rest.volts);
  double begin = 0;
  for (const double end : ends) {
    run.go(begin, end, out);
    if (out.status == Status::stalled) break;
    begin = end;
  }
  out.end_V = out.volts.back();
  return out;
}

}  // namespace nudge
