// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/term.hpp"

namespace nudge {

/// Optional capability of a TermSystem, found by dynamic_cast: its part of LayerEnergies (sim/layer_energies.hpp).
template <class S>
class LayerEnergy {
 public:
  virtual ~LayerEnergy() = default;

  virtual bool has_layer_energy() const = 0;
  /// Adds scale · ∂E/∂θ(z) of one copy to the sink.
  virtual void accumulate_layer_energy(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink, ReadContext& read) = 0;
};

}  // namespace nudge
