// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "netlist/algebraic_start.hpp"
#include "netlist/switch_states.hpp"
#include "netlist/transient.hpp"

namespace nudge {

/// Equations in the form that IDA asks for.
struct Transient::Problem {
  Problem(const NodalEquations& e, const NodeCoordinates& of, const ReducedMatrices& m)
      : equations(&e), at(&of), matrices(&m), at_rest(&m), values(e.values()), switches(e.netlist()) {
    x.assign(static_cast<std::size_t>(e.unknowns()), 0.0);
    rest();
  }

  /// Gives junctions their capacitance at 0 V.
  void rest() {
    if (at_rest->curved.empty()) return;
    own = *at_rest;
    matrices = &*own;
  }

  const double* voltages(const double* z) {
    at->voltages(z, values, x.data());
    return x.data();
  }
  /// Sets the sources to their values at time t; they do not change within a step.
  void set_time(double t) {
    for (const std::size_t k : waves) values[k] = equations->netlist().elements[k].wave.at(t);
  }
  /// Adds Nᵀ C Q de/dt to f: the charge that changing sources move, within the break that t lies in.
  void add_moved_charge(double t, double* f) {
    if (waves.empty()) return;
    constexpr double kInside = 1e-9;  // distance from a jump at which its side is evaluated, as a share of the stretch
    const double inside = std::clamp(t, begin + kInside * (end - begin), end - kInside * (end - begin));
    std::vector<double> rates(values.size(), 0.0), rest(static_cast<std::size_t>(at->columns()), 0.0), v(x.size(), 0.0),
        charge;
    for (const std::size_t k : waves) rates[k] = equations->netlist().elements[k].wave.slope(inside);
    at->voltages(rest.data(), rates, v.data());
    v.resize(static_cast<std::size_t>(equations->nodes()));
    matrices->charge(*at, v, charge);
    for (std::size_t i = 0; i < charge.size(); ++i) f[i] += charge[i];
  }
  /// Computes r and ∂r/∂v at z, and the capacitances of junctions.
  void evaluate(const double* z) {
    voltages(z);
    if (own) own->set_junctions(*equations, x.data());
    equations->evaluate(x, values, {}, {}, nullptr, residual, jacobian);
  }
  /// Turns the switches once whose controls at the voltages v say so. True if any turned.
  bool follow_once(const double* v) {
    const bool turned = switches.follow(v);
    if (turned) switches.set(values);
    return turned;
  }
  /// Turns the switches to the states of the voltages v.
  void follow(const double* v) {
    follow_once(v);
    switches.rest();
  }
  const AlgebraicStart& algebraic_start() {
    if (!jump) jump.emplace(*equations, *matrices);
    return *jump;
  }
  bool held(int column) const {
    const int k = column - at->inner();
    return k >= 0 && !actions.empty() && actions[static_cast<std::size_t>(k)].held;
  }
  /// Sets f of the columns that actions are on: the current that flows in, or the law of the source that holds them.
  void add_actions(const double* z, double* f) const {
    for (std::size_t k = 0; k < actions.size(); ++k) {
      const auto [is_held, value, load] = actions[k];
      const std::size_t column = static_cast<std::size_t>(at->inner()) + k;
      if (is_held) {
        f[column] = z[column] - value;
      } else {
        f[column] += load * z[column] - value;
      }
    }
  }

  const NodalEquations* equations;
  const NodeCoordinates* at;
  const ReducedMatrices *matrices, *at_rest;
  std::optional<ReducedMatrices> own;  ///< only with junctions that have a capacitance
  std::vector<double> values, x, residual, jacobian;
  SwitchStates switches;
  std::optional<AlgebraicStart> jump;
  std::vector<OutputAction> actions;
  std::vector<std::size_t> waves;  ///< elements that follow a waveform
  double begin = 0, end = 0;       ///< begin and end of the present stretch without a jump
};

}  // namespace nudge
