// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/gradient_sink.hpp"

namespace nudge {

/// Optional capability of a Dynamics: every part that has weights descends an energy E_k of its own in the state of
/// what it acts on, while what it reads is held: the layers of a network that is no gradient flow as a whole, since what one
/// layer reads is another one's state (Ren et al., "Transformers as Intrinsic Optimizers", eqs. 12, 13 and 15).
template <class S>
class LayerEnergies {
 public:
  virtual ~LayerEnergies() = default;

  /// Adds scale · Σ_k ∂E_k/∂θ(z) of one copy to the sink, by correlation reads. Returns false and adds nothing if a part with
  /// weights has no such energy.
  virtual bool accumulate_layer_energies(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) = 0;
};

}  // namespace nudge
