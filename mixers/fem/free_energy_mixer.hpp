// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mixers/mask.hpp"
#include "mixers/mixer.hpp"
#include "mixers/ops/reads.hpp"
#include "mixers/tape.hpp"

namespace nudge {

/// Place where the time-decay conditioner acts on the gates of the Free Energy Mixer.
enum class Modulation {
  none,    ///< no conditioner
  before,  ///< on their pre-activations (default of the published code; keeps λ in [0, 1])
  after,   ///< on λ and g themselves, as printed in the paper's eqs. H.5 and 34d
};

struct FreeEnergyOptions {
  Index values = 4;        ///< d, channels that are read
  Index keys = 8;          ///< columns of W_q and W_k: heads times the head's key width
  Index decays = 2;        ///< columns of W_dec: gla 1 per head, 1 per feature (keys) or 0: none, lrnn one per group
  Index groups = 1;        ///< aft: columns of W_k
  Index states = 3;        ///< N of the state-space priors
  double epsilon = 1e-6;   ///< added to gla's features
  bool quadratic = false;  ///< gla with decays per head or none: as T x T products, faster for short sequences
  Index gate_groups = 1;   ///< groups of the RMS norm of the outer gate
  Modulation modulation = Modulation::none;
  Index hidden = 3;           ///< Hc of the time-decay conditioner
  double hidden_scale = 1.0;  ///< factor of its unit-norm gate: 1 (paper) or √Hc (published code)
  Index conditioned = 5;      ///< output columns of the conditioner alone (kind tdc)
  bool log_sum_exp = true;    ///< ablation L: the branch F; without it μ is read alone
  bool inner_gate = true;     ///< ablation T: the learned λ between μ and F; without it λ = 1
  bool outer_gate = true;     ///< ablation G: the gate g
};

const Section<FreeEnergyOptions>& free_energy_section();

/// Priors of the Free Energy Mixer.
enum class Prior { softmax, gla, aft, lrnn, ssm_invariant, ssm_selective };

/// Branches of a read, (tokens, d) each: mean and free energy at β (reads.hpp).
template <class S>
struct Branches {
  Value<S> mean;
  Value<S> free_energy;
};

/// All priors: v (T, d), β (1, d) > 0; value channel c belongs to group c // (d/G). Priors with decay are causal, take
/// time and memory linear in T (reads.hpp), and continue `streams` where given. Without β they read the mean alone,
/// which then stands for both branches.

/// Softmax (appendix B.1): p ∝ exp(q·k/√dk) per head over the mask; q, k (T, H dk). G = heads.
template <class S>
Branches<S> softmax_prior(Value<S> q, Value<S> k, Value<S> v, Value<S> beta, Index heads, const Mask& mask);

/// Gated linear attention (H.2): s = Σ_m φ(q_t)_m φ(k_i)_m exp(Σ_{τ=i+1..t} g_τ), φ(x) = relu(x) + ε, q and k already
/// rotated; g (T, heads) or (T, heads·dk) ≤ 0. No ε in the denominator (the published code's p does not sum to 1). G =
/// heads.
template <class S>
Branches<S> gla_prior(Value<S> q, Value<S> k, Value<S> g, Value<S> v, std::optional<Value<S>> beta, Index heads,
                      double epsilon, Streams<S>* streams);

/// Gated linear attention, the numbers of gla_prior(), by products of T x T matrices in time T². For a T of some hundreds it is
/// faster than the recurrence. g (T, heads) per head, or null: no decay (linear attention). Causal; from the start of the
/// sequence.
template <class S>
Branches<S> gla_prior_quadratic(Value<S> q, Value<S> k, const Value<S>* g, Value<S> v, Value<S> beta, Index heads,
                                double epsilon, const Mask& mask);

/// AFT (H.3): s = exp(k_i), one weight per group: k (T, G). The paper's k ∈ R^m does not say how groups map to
/// channels; here they are contiguous.
template <class S>
Branches<S> aft_prior(Value<S> k, Value<S> v, std::optional<Value<S>> beta, Streams<S>* streams);

/// Decaying linear RNN (H.3): s = exp(Σ_{τ=i+1..t} g_τ), g (T, G) ≤ 0.
template <class S>
Branches<S> lrnn_prior(Value<S> g, Value<S> v, std::optional<Value<S>> beta, Streams<S>* streams);

/// State space, time-invariant (H.4), per channel c with N states: H(0) = D, H(τ ≥ 1) = Σ_n C A^(τ−1) B, s = H(t − i),
/// with dt = softplus(raw), A = exp(−softplus(raw) dt), B = softplus(raw) dt, C and D softplus(raw). As printed: no C·B
/// at lag 0. Raw parameters a, b, c (d, N); direct, dt (1, d).
template <class S>
struct InvariantStates {
  Value<S> a, b, c, direct, dt;
};
template <class S>
Branches<S> ssm_invariant_prior(const InvariantStates<S>& raw, Value<S> v, std::optional<Value<S>> beta,
                                Streams<S>* streams);

/// State space, selective (S6 with non-negative parts): s = Σ_n C_tn exp(A_cn Σ_{τ=i+1..t} dt_τc) dt_ic B_in + D_c 1{i
/// = t}, C·B present at lag 0. Shapes: dt (T, d), b, c (T, N) positive, raw a (d, N), direct (1, d). A = −softplus(a),
/// D = softplus(direct). The paper's "channel-interactive variant lifting to pairs" (2.3.3) is nowhere defined and left
/// out.
template <class S>
struct SelectiveStates {
  Value<S> dt, b, c, a, direct;
};
template <class S>
Branches<S> ssm_selective_prior(const SelectiveStates<S>& states, Value<S> v, std::optional<Value<S>> beta,
                                Streams<S>* streams);

/// Inverse temperature β = softplus(raw + 1.8), which is 1.95 where training starts (the paper's "around 1" is softplus⁻¹(1)
/// = 0.54; its 1.8 is kept). UserError naming `name` where a β underflows to zero.
template <class S>
Value<S> inverse_temperature(Value<S> raw, const std::string& name);

/// Outer gate g: softplus(g_raw) over its RMS in each of `groups` blocks of channels, ε = 1e-6, no learned scale.
template <class S>
Value<S> outer_gate(Value<S> g_raw, Index groups);

/// Gated read u = g ∘ ((1 − λ) μ + λ F), λ = sigmoid(λ_raw): eqs. 9 and 10. Null gates (ablations): g = 1, λ = 1.
template <class S>
Value<S> gated_read(const Branches<S>& branches, const Value<S>* lambda, const Value<S>* gate);

/// Parameter budgets of the paper, both 4 width² weights with the softmax prior. half: d = width/2 with queries and
/// keys of `width`. two_thirds: d = 2 width/3 with queries and keys of d. UserError where the sizes do not divide.
enum class Budget { half, two_thirds };
MixerOptions free_energy_budget(Budget budget, Index width, Index heads);

/// Time-decay conditioner of the Free Energy Mixer (Lu & Yang, "Free Energy Mixer", appendix I), x (T, D) to (T, out):
///     x̂ = LN(x), s = softplus(x̂ Wf), u = x̂ Wx, a = softplus(x̂ Ws), h̃_t = e^{−s_t} h̃_{t−1} + u_t
///     out = (silu(κ a/√(Σa² + 1e-12)) ∘ LN(h̃)) Wc
/// both LN with scale and shift, ε = 1e-5 (the paper leaves them open); κ = 1 is the paper, √Hc the published code, which also leaves
/// out silu. Parameters tdc_ln1_w, tdc_ln1_b (D), tdc_Wf, tdc_Wx, tdc_Ws (D, Hc), tdc_ln2_w, tdc_ln2_b (Hc), tdc_Wc (Hc, out).
std::vector<Field> conditioner_fields(Index width, Index hidden, Index outputs);
template <class S>
Value<S> conditioner(Value<S> x, const MixerCall<S>& call, Value<S>* hidden_state = nullptr);

/// Hidden temperature that the inner gate stands for (Lu & Yang, "Free Energy Mixer", section 2.3.1 and appendix F.3): β* in [0, β_max] with
///     F(β*) = (1 − λ) μ + λ F(β_max),   F(β) = (1/β) log Σ p_i e^{β v_i}.
/// The two sides agree in value only: the gradient of the gated read with respect to v is (1 − λ) p + λ q_{β_max}, not q_{β*}.
struct HiddenTemperature {
  double mean;                    ///< μ = F(0)
  double free_energy;             ///< F(β_max)
  double gated;                   ///< (1 − λ) μ + λ F(β_max)
  double beta;                    ///< β*
  double slope;                   ///< dF/dβ at β*: KL(q_{β*}‖p)/β*², Var_p(v)/2 at β* = 0
  double beta_slope;              ///< dβ*/dλ = (F(β_max) − μ)/slope
  std::vector<double> posterior;  ///< q_{β*} ∝ p e^{β* v}
};

/// Finds the hidden temperature by bisection; p (N) sums to one, v (N), β_max > 0, λ in [0, 1]. β* is accurate to rounding
/// also for tiny λ, because F − μ is summed from terms without cancellation.
HiddenTemperature hidden_temperature(const std::vector<double>& p, const std::vector<double>& v, double beta_max,
                                     double lambda);

}  // namespace nudge
