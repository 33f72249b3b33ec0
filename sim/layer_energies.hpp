// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/gradient_sink.hpp"

namespace nudge {

/// Optional capability of a Dynamics without a common energy, such as layers that read one another's states. Every part that
/// has weights descends an energy E_k of its own. E_k is a function of the state that the part acts on; the states that the
/// part reads are held. Source: Ren et al., "Transformers as Intrinsic Optimizers", eqs. 12, 13 and 15.
template <class S>
class LayerEnergies {
 public:
  virtual ~LayerEnergies() = default;

  /// Adds scale · Σ_k ∂E_k/∂θ(z) of one copy to the sink, by correlation reads. Returns false and adds nothing if a part with
  /// weights has no such energy.
  virtual bool accumulate_layer_energies(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) = 0;
};

}  // namespace nudge
