// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// Optional capability of a Dynamics (Capabilities::inertia) whose units do not all follow their force in the time τ: τ D dz/dt = F(z), D of the
/// capacitances that the units charge. Equilibria and Jacobians are those of F.
template <class S>
class Inertia {
 public:
  virtual ~Inertia() = default;

  /// Replaces f (k·rows, cols) ← D⁻¹ f. UserError where D is singular: a unit that has no capacitance follows at once, in no step of time.
  virtual void accelerate(MatrixRef<S> f) = 0;
};

}  // namespace nudge
