// SPDX-License-Identifier: Apache-2.0
// Estimators on a force, an energy and a cost that are written in Python.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/arrays.hpp"
#include "python/src/bindings.hpp"
#include "python/src/computing.hpp"
#include "python/src/own_estimator.hpp"
#include "python/src/python_dynamics.hpp"
#include "python/src/results.hpp"
#include "sim/base/errors.hpp"
#include "sim/equilibrium_json.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"

namespace nudge::python {
namespace {

Gradient<double> gradient_of(const std::vector<std::pair<Index, Index>>& sizes) {
  std::vector<ParameterShape> shapes;
  for (const auto& [rows, cols] : sizes) shapes.push_back({rows, cols});
  return Gradient<double>(shapes);
}

Matrix<double> start_of(const In<double, 2>& z0, const PythonDynamics& dynamics) {
  if (static_cast<Index>(z0.shape(0)) != dynamics.rows() || static_cast<Index>(z0.shape(1)) != dynamics.cols()) {
    throw UserError("z0: its shape must be (" + std::to_string(dynamics.rows()) + ", " +
                    std::to_string(dynamics.cols()) + "), that of a state");
  }
  return map_of<double, 2>(z0);
}

template <class T>
void take(const nb::dict& options, const char* name, T& field) {
  if (options.contains(name)) field = nb::cast<T>(options[name]);
}

EstimatorOptions options_of(const nb::dict& given, double beta) {
  EstimatorOptions o;
  o.beta = beta;
  o.free.max_steps = 200;
  o.nudged_steps = 200;
  std::string solver = to_string(o.free.solver);
  take(given, "solver", solver);
  o.free.solver = settle_solver(solver);
  take(given, "step", o.step);
  o.free.step = o.step;
  take(given, "free_steps", o.free.max_steps);
  take(given, "tolerance", o.free.tolerance);
  take(given, "nudged_steps", o.nudged_steps);
  take(given, "beta", o.beta);
  take(given, "points", o.points);
  take(given, "adjoint_tolerance", o.adjoint_tolerance);
  take(given, "adjoint_iterations", o.adjoint_iterations);
  std::string sides = "centered";
  take(given, "sides", sides);
  if (sides != "centered" && sides != "positive" && sides != "negative") {
    throw UserError("sides = \"" + sides + "\" (must be centered, positive or negative)");
  }
  if (sides != "centered") o.sides = sides == "positive" ? NudgeSides::positive : NudgeSides::negative;
  if (!(o.beta > 0) || !(o.step > 0)) throw UserError("beta and step must be above 0");
  return o;
}

/// Makes an estimator by name, or from an object of Python.
std::unique_ptr<GradientEstimator<double>> estimator_of(const nb::object& estimator, const nb::dict& given) {
  if (nb::isinstance<nb::str>(estimator)) {
    const auto name = nb::cast<std::string>(estimator);
    return make_estimator<double>(name, options_of(given, default_beta<double>(name)));
  }
  const EstimatorKind own = own_estimator_kind(estimator);
  return own.in_double(options_of(given, own.beta_in_double));
}

/// Verdict on the state of an estimate of that loss (judge_point()), its rows as one sample; none of a system without J v.
Equilibrium judged(PythonDynamics& dynamics, const Matrix<double>& state, const SettleResult& phase,
                   const SettleOptions& free, const Gradient<double>& gradient, double loss) {
  Equilibrium out;
  try {
    out = compute([&] {
      Equilibrium found = judge_point(dynamics, state, true, phase, free.motion, parallel_step(free));
      confirm_steps(found, [&](double residual, int most) {
        SettleOptions on = free;
        on.tolerance = residual;
        on.max_steps = most - phase.steps;
        Matrix<double> from = state;
        SettleWorkspace<double> workspace;
        SettleResult all = settle<double>(dynamics, from, on, workspace);
        all.steps += phase.steps;
        return all;
      });
      return found;
    });
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_NotImplementedError)) throw;
    return out;
  }
  if (loss == 0) return out;  // a cost of 0 asks nothing of any unit
  double dead = 0, units = 0;
  for (const Matrix<double>& one : gradient.matrices()) {
    dead += static_cast<double>((one.array() == 0).colwise().all().count());
    units += static_cast<double>(one.cols());
  }
  out.dead = units > 0 ? dead / units : 0;
  return out;
}

/// Estimates the gradients of a Python dynamics and cost from the state z0. sizes: shapes of the parameters; given:
/// options by name.
nb::tuple estimate(const nb::object& object, const nb::object& cost_object, const In<double, 2>& z0,
                   const nb::object& estimator, const std::vector<std::pair<Index, Index>>& sizes,
                   const nb::dict& given) {
  PythonDynamics dynamics(object);
  PythonCost cost(cost_object);
  cost.set_rows(dynamics.rows());
  Matrix<double> state = start_of(z0, dynamics), start_gradient = Matrix<double>::Zero(state.rows(), state.cols());
  Gradient<double> gradient = gradient_of(sizes);
  const auto made = estimator_of(estimator, given);
  Example<double> task{&dynamics, &cost, &state, &start_gradient, 1.0, &gradient};
  const SequenceReport report = compute([&] { return made->estimate(task); });
  const Equilibrium verdict = judged(dynamics, state, report.free, options_of(given, 1).free, gradient, report.loss);
  constexpr double kUnsolved = 0.1;  // of |dC/dz|: a tenth of the gradient
  const bool solves = nb::isinstance<nb::str>(estimator) && nb::cast<std::string>(estimator).starts_with("implicit");
  if (solves && (report.nudged == Status::diverged || report.nudged_residual > kUnsolved || verdict.none > 0.5)) {
    throw NumericalFailure(std::string("no gradient: J' a = -dC/dz has no solution where the free phase ends (") +
                           sentence(verdict) + ")");
  }
  nb::list gradients;
  for (Matrix<double>& one : gradient.matrices()) gradients.append(array_of(std::move(one)));
  nb::dict facts = dict_of(report);
  facts["equilibrium"] = dict_of(json_of(verdict));
  facts["state"] = array_of(std::move(state));
  facts["adjoint"] = array_of(Matrix<double>(made->adjoint()));
  return nb::make_tuple(gradients, facts);
}

nb::tuple settle_dynamics(const nb::object& object, const In<double, 2>& z0, const nb::dict& given) {
  PythonDynamics dynamics(object);
  Matrix<double> state = start_of(z0, dynamics);
  const SettleOptions options = options_of(given, default_beta<double>("implicit")).free;
  SettleWorkspace<double> workspace;
  const SettleResult result = compute([&] { return settle<double>(dynamics, state, options, workspace); });
  return nb::make_tuple(array_of(std::move(state)), dict_of(result));
}

}  // namespace

void bind_dynamics(nb::module_& m) {
  using namespace nb::literals;
  m.def("estimate", estimate, "dynamics"_a, "cost"_a, "z0"_a, "estimator"_a, "sizes"_a, "options"_a);
  m.def("settle", settle_dynamics, "dynamics"_a, "z0"_a, "options"_a);
}

}  // namespace nudge::python
