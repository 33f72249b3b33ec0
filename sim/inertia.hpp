// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// Optional capability of a Dynamics (Capabilities::inertia) whose units charge different capacitances D: τ D dz/dt = F(z). Equilibria and
/// Jacobians belong to F.
template <class S>
class Inertia {
 public:
  virtual ~Inertia() = default;

  /// Replaces f (k·rows, cols) ← D⁻¹ f. UserError where D is singular: a unit that has no capacitance follows at once, in no step of time.
  virtual void accelerate(MatrixRef<S> f) = 0;
};

}  // namespace nudge
