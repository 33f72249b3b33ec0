// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/dynamics.hpp"

namespace nudge {

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
