// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "circuits/netlist/node_coordinates.hpp"
#include "circuits/netlist/reduced_matrices.hpp"

namespace nudge {

/// reached: the time that was asked for; stopped: no step is small enough; no_start: no state fulfils the equations of what has no
/// capacitance (capacitors that hang on each other alone).
enum class TransientEnd { reached, stopped, no_start };

/// A netlist over time, by the states z of what no source sets (NodeCoordinates), v = P z + Q e:
///     Nᵀ C (P dz/dt + Q de/dt) + Nᵀ r(v, t) = 0
/// with SUNDIALS IDA (Hindmarsh et al., ACM TOMS 31 (2005) 363): backward differentiation of order 1 to 5, variable steps, KLU; nodes without a
/// capacitance follow at once. What acts on the outputs (NodalEquations) acts on the columns behind inner(): a current, or a source that holds
/// them. What comes out is a function of what is set before start(), of nothing that was run before. One object per thread.
class Transient {
 public:
  /// What is referred to must outlive it. Errors of a step: relative to the state, and in V.
  Transient(const NodalEquations& equations, const NodeCoordinates& at, const ReducedMatrices& matrices,
            double relative_error, double absolute_error_V);
  ~Transient();
  Transient(const Transient&) = delete;
  Transient& operator=(const Transient&) = delete;

  std::vector<double>& values();  ///< NodalEquations::values
  /// Sources (elements) that follow their waveforms.
  void follow(std::vector<std::size_t> waves);
  /// One action per output, or none.
  void act(std::vector<OutputAction> actions);
  /// Whether anything has a capacitance that can charge, or sources set every node.
  bool charges() const;

  /// Sources and actions come on while capacitances keep the charges that they have at the voltages `before` of the nodes. false: these
  /// charges determine no state.
  bool start(const std::vector<double>& before);
  /// From these voltages of the nodes.
  void start_at(const std::vector<double>& volts);

  /// On from `begin` to `end`, between which nothing jumps; keep(t, voltages of the nodes) after every step, and before the first of all.
  using Keep = std::function<void(double, const double*)>;
  TransientEnd run(double begin, double end, const Keep& keep);
  /// z as it is.
  const double* state() const;
  int jacobians() const;

 private:
  struct Problem;
  class Integrator;
  std::unique_ptr<Problem> problem_;
  std::unique_ptr<Integrator> integrator_;
};

}  // namespace nudge
