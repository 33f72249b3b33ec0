// SPDX-License-Identifier: Apache-2.0
// Includes odeint: for the .cpp files of this folder only.
#pragma once

#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>

#include <vector>

#include "sim/dynamics.hpp"

namespace nudge {

template <class S>
using Dopri5 = boost::numeric::odeint::runge_kutta_dopri5<std::vector<S>, S, std::vector<S>, S>;

template <class S>
using ControlledDopri5 = boost::numeric::odeint::controlled_runge_kutta<Dopri5<S>>;

/// Accepts a step when its error estimate is at most error · (1 + |x_i| + dt |dx_i/dt|) in every component. Built by hand:
/// make_controlled() without all of odeint's generation headers takes the second bound for the largest step.
template <class S>
ControlledDopri5<S> controlled_dopri5(double error) {
  const auto bound = static_cast<S>(error);
  return ControlledDopri5<S>(typename ControlledDopri5<S>::error_checker_type(bound, bound));
}

/// τ dz/dt = F(z) as odeint wants it: states are vectors, flattened row by row; time in units of τ.
template <class S>
struct OdeSystem {
  Dynamics<S>* dynamics;
  Index rows;
  Index cols;
  int* evaluations;

  using State = std::vector<S>;

  void operator()(const State& x, State& dxdt, S /*t*/) const {
    dynamics->force(Eigen::Map<const Matrix<S>>(x.data(), rows, cols), Eigen::Map<Matrix<S>>(dxdt.data(), rows, cols));
    ++*evaluations;
  }
};

}  // namespace nudge
