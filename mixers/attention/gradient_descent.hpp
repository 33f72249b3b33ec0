// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/mixer.hpp"
#include "mixers/ops/operations.hpp"

namespace nudge {

/// Steps of mixers that descend a free energy.
struct DescentOptions {
  double temperature = 1.3;  ///< T > 0 of the energies and of MHA2nd and LightMHA2nd
  double eta = 0.5;          ///< step size of gd_*, loop_*, mha2nd, light2nd
  double ridge = 0.1;        ///< ε > 0 of light2nd
  bool refresh = true;       ///< loop_*: the attended tokens move along (Algorithm 2); else they stay at the start
};
const Section<DescentOptions>& descent_section();

/// Pair energy of token z and attended token h under a head (Ren et al., "Transformers as Intrinsic Optimizers", sections 2 and A.3).
enum class PairEnergy {
  elastic,  ///< ½‖W1 z − W2 h‖²
  inner,    ///< −(W1 z)·(W2 h)
};

/// One step of gradient descent on the Helmholtz free energy of each token against a context, with the energy:
///     F(z_t) = −(T/H) Σ_h log Σ_i exp(−E_h(z_t, h_i)/T)      z_t ← z_t − η ∇F(z_t)
///     elastic: z − (η/H) Σ_h W1ᵀ(W1 z − Σ_i p_i W2 h_i)      inner: z + (η/H) Σ_h W1ᵀ Σ_i p_i W2 h_i
/// with p_i ∝ exp(−E_h(z_t, h_i)/T). W1, W2 (H, dh, d). `energy` is (tokens, 1), at the z that the step starts from.
///
/// Differences from the paper: its theorems 1 and 3 print W_V with a factor T too many. −T log Σ exp(z·Wh/T) has the gradient
/// −Σ p_i W h_i. Its theorem 1 also equates the gradients of both energies, which agree only tangentially to the sphere.
/// Attention with its residual is the inner energy; the elastic energy adds −η W1ᵀW1 z/H.
template <class S>
struct EnergyStep {
  Value<S> z;
  Value<S> energy;
};
template <class S>
EnergyStep<S> energy_step(PairEnergy kind, Value<S> z, Value<S> context, Value<S> w1, Value<S> w2,
                          const MixerOptions& options, const Mask& mask);

/// Options of momen, nag and *_stack, and of sequence models with momentum between their layers.
struct MomentumOptions {
  int layers = 2;               ///< layers of *_stack
  double momentum_start = 0.9;  ///< beta before learning (Intrinsic Optimizers, section 3.1)
};
const Section<MomentumOptions>& momentum_section();

/// Point at which a step with momentum evaluates its update U.
enum class LookAhead {
  none,       ///< z: heavy ball
  paper,      ///< z − β p: Ren et al., "Transformers as Intrinsic Optimizers", eq. 10
  sutskever,  ///< z − η β p: consistent with z' = z − η p'; the same for η = 1
};

/// State and its momentum, (tokens, width) each.
template <class S>
struct MomentumState {
  Value<S> z;
  Value<S> p;
};

/// Takes a step with momentum, p' = β p − U(look-ahead), z' = z − η p'; β and η (1, 1).
template <class S, class Update>
MomentumState<S> momentum_step(LookAhead look_ahead, MomentumState<S> at, Value<S> beta, Value<S> eta, Update update) {
  const Value<S> carried = at.p * beta;
  Value<S> point = at.z;
  if (look_ahead == LookAhead::paper) point = at.z - carried;
  if (look_ahead == LookAhead::sutskever) point = at.z - carried * eta;
  const Value<S> p = carried - update(point);
  return {at.z - p * eta, p};
}

}  // namespace nudge
