// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes odeint: for the .cpp files of this folder only.
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>
#include <vector>

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

}  // namespace nudge
