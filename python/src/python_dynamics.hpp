// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <span>

#include "sim/dynamics.hpp"
#include "training/learning/cost.hpp"

namespace nudge::python {

namespace nb = nanobind;

/// Dynamics whose force, J v and Jᵀ u are methods of a Python object (nudge.Dynamics): rows, cols, conservative,
/// force(z), jvp(z, v), vjp(z, u), parameter_gradient(z, u), energy(z). Copies stacked by rows are handed over one
/// after the other. Every call takes the GIL; its exceptions pass through the simulation as C++ exceptions.
class PythonDynamics final : public Dynamics<double> {
 public:
  explicit PythonDynamics(const nb::object& object);
  ~PythonDynamics() override;

  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }
  void force(ConstMatrixRef<double> z, MatrixRef<double> f, Part part) override;
  Linearization<double>& linearize(ConstMatrixRef<double> z) override;
  DynamicsTraits<double> traits() const override { return {.leak = leak_}; }
  std::optional<double> energy(ConstMatrixRef<double> z) override;
  bool accumulate_energy_gradient(ConstMatrixRef<double> z, std::span<const double> scales,
                                  GradientSink<double>& sink) override;

 private:
  class Point;
  /// True if the force has such a part: the whole is conservative, or no part is known to be.
  bool has(Part part) const { return part == Part::all || (part == Part::conservative) == conservative_; }

  /// Adds gradients, in the order of the parameters, to the sink.
  static void add(const nb::object& gradients, double scale, GradientSink<double>& sink);

  nb::object object_;
  Index rows_, cols_;
  bool conservative_, contrastive_;
  double leak_;
  std::unique_ptr<Point> point_;
};

/// Cost whose value(z) and gradient(z) are methods of a Python object.
class PythonCost final : public Cost<double> {
 public:
  explicit PythonCost(const nb::object& object) : object_(object) {}
  ~PythonCost() override;

  double value(ConstMatrixRef<double> z) override;
  void gradient(ConstMatrixRef<double> z, MatrixRef<double> out) override;
  void accumulate_parameter_gradient(ConstMatrixRef<double> /*z*/, double /*scale*/,
                                     GradientSink<double>& /*sink*/) override {}
  /// Sets the rows of one state, to tell copies apart.
  void set_rows(Index rows) { rows_ = rows; }

 private:
  nb::object object_;
  Index rows_ = 0;
};

}  // namespace nudge::python
