// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "netlist/nodal_equations.hpp"
#include "netlist/node_coordinates.hpp"
#include "netlist/reduced_matrices.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

/// End of a transient. reached: the time that was asked for; stopped: no step is small enough; no_start: no state fulfils the
/// equations without capacitance (capacitors that hang on each other alone).
enum class TransientEnd { reached, stopped, no_start };

/// Netlist over time, by the states z that no source sets (NodeCoordinates), v = P z + Q e:
///     Nᵀ C (P dz/dt + Q de/dt) + Nᵀ r(v, t) = 0
/// with SUNDIALS IDA (Hindmarsh et al., ACM TOMS 31 (2005) 363): backward differentiation of order 1 to 5, variable steps, KLU;
/// nodes without a capacitance follow at once. Actions on the outputs (NodalEquations) are on the columns behind inner(): a current,
/// or a source that holds them. The result is a function of the settings before start(), not of earlier runs. One object per thread.
class Transient {
 public:
  /// Makes the integrator. The equations, coordinates and matrices must outlive it. Errors of a step: relative to the state, and in V.
  Transient(const NodalEquations& equations, const NodeCoordinates& at, const ReducedMatrices& matrices,
            double relative_error, double absolute_error_V);
  ~Transient();
  Transient(const Transient&) = delete;
  Transient& operator=(const Transient&) = delete;

  std::vector<double>& values();  ///< NodalEquations::values
  /// Sets the sources (elements) that follow their waveforms.
  void follow(std::vector<std::size_t> waves);
  /// Sets the actions on the outputs: one per output, or none.
  void act(std::vector<OutputAction> actions);
  /// True if anything has a capacitance that can charge, or sources set every node.
  bool charges() const;

  /// Starts with sources and actions coming on while capacitances keep their charges at the voltages `before` of the nodes.
  /// False: these charges determine no state.
  bool start(const std::vector<double>& before);
  /// Starts from these voltages of the nodes.
  void start_at(const std::vector<double>& volts);

  /// Function that run() calls as keep(t, voltages of the nodes) after every step, and before the first of all. run() goes on
  /// from `begin` to `end`, between which nothing jumps.
  using Keep = std::function<void(double, const double*)>;
  TransientEnd run(double begin, double end, const Keep& keep);
  /// Present state z.
  const double* state() const;
  int jacobians() const;
  /// Node that moved most in the step that could not be taken, after TransientEnd::stopped; −1: the steps ran out.
  int jumping() const;

 private:
  struct Problem;
  class Integrator;
  std::unique_ptr<Problem> problem_;
  std::unique_ptr<Integrator> integrator_;
};

struct StepResponseOptions {
  double stop_s = 1e-3;
  std::vector<double> node_capacitance_F =
      {};                        ///< capacitances by node, from it to ground, beside the capacitors of the netlist;
                                 ///< none: 0 F
  double relative_error = 1e-6;  ///< relative error of a step
  double absolute_error_V = 1e-9;
  double band = 1e-3;  ///< distance to the end that counts as settled, in the largest change of a node
};

/// Settling of a circuit: all capacitances are empty and all sources come on at t = 0.
struct StepResponse {
  /// converged: it has settled; max_steps: not within stop_s; stalled: the integrator gave up at the last time that is there.
  Status status = Status::converged;
  std::vector<double> time_s;              ///< times of the integrator's steps, from 0 on
  std::vector<std::vector<double>> volts;  ///< voltages of the nodes, by step
  std::vector<double> end_V;               ///< the operating point; none: the circuit has none that its switches keep
  int turning = -1;                        ///< element that is a switch which turns itself back at rest; −1: none
  double settled_s = 0;                    ///< time after which every node is within `band` of the end
  int jacobians = 0;
  int jumping = -1;  ///< Transient::jumping, if the status is stalled
};

/// Step response of a netlist by the states z that no source sets (Transient), v = P z + Q e:
///     Nᵀ C P dz/dt + Nᵀ r(v) = 0,     Nᵀ C v(0) = 0 where there is a capacitance
/// UserError if nothing has a capacitance, and for elements that NodeCoordinates refuses. NumericalFailure without an
/// operating point or a consistent start (capacitors that hang on each other alone: give every node one to ground).
StepResponse step_response(const NodalEquations& equations, const StepResponseOptions& options);

/// Response of a netlist to sources that follow their waveforms (Waveform), from the operating point at t = 0 on,
///     Nᵀ C (P dz/dt + Q de/dt) + Nᵀ r(v, t) = 0,
/// started anew where a slope jumps. Nodes of .ic are held at their voltages until then (Netlist::held). Where switches turn on and on at rest, it
/// begins with all of them as they are drawn. `end_V` is the last state, `settled_s` has no meaning, and the status is converged if it
/// got to stop_s. Errors as step_response(); UserError also for a waveform that lacks numbers, and for more than 10⁵ jumps.
StepResponse waveform_response(const NodalEquations& equations, const StepResponseOptions& options);

}  // namespace nudge
