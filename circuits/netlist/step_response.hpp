// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/netlist/nodal_equations.hpp"
#include "sim/base/status.hpp"

namespace nudge {

struct StepResponseOptions {
  double stop_s = 1e-3;
  std::vector<double> node_capacitance_F =
      {};                        ///< by node, from it to ground, beside the capacitors of the netlist; none: 0 F
  double relative_error = 1e-6;  ///< of a step
  double absolute_error_V = 1e-9;
  double band = 1e-3;  ///< how close to the end is settled, in the largest change of a node
};

/// How a circuit settles: all capacitances are empty and all sources come on at t = 0.
struct StepResponse {
  /// converged: it has settled; max_steps: not within stop_s; stalled: the integrator gave up at the last time that is there.
  Status status = Status::converged;
  std::vector<double> time_s;              ///< of the integrator's steps, from 0 on
  std::vector<std::vector<double>> volts;  ///< of the nodes, by step
  std::vector<double> end_V;               ///< the operating point
  double settled_s = 0;                    ///< after which every node is within `band` of it
  int jacobians = 0;
};

/// By the states z of what no source sets (Transient), v = P z + Q e:
///     Nᵀ C P dz/dt + Nᵀ r(v) = 0,     Nᵀ C v(0) = 0 where there is a capacitance
/// UserError where nothing has one, and for elements that NodeCoordinates refuses; NumericalFailure without an
/// operating point or a consistent start (capacitors that hang on each other alone: give every node one to ground).
StepResponse step_response(const NodalEquations& equations, const StepResponseOptions& options);

/// The same from the operating point at t = 0 on with sources that follow their waveforms (Waveform),
///     Nᵀ C (P dz/dt + Q de/dt) + Nᵀ r(v, t) = 0,
/// started anew where a slope jumps. `end_V` is where it ends, `settled_s` nothing, and the status converged where it got to stop_s.
/// UserError also for a waveform that lacks numbers, and for more than 10⁵ jumps.
StepResponse waveform_response(const NodalEquations& equations, const StepResponseOptions& options);

}  // namespace nudge
