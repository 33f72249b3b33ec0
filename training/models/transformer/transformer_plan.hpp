// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "training/models/mixer_term.hpp"
#include "training/models/network_plan.hpp"
#include "training/models/tape_term.hpp"

namespace nudge {

/// Activation φ of the feed-forward nodes: relu2 = max(h, 0)²; gelu = ½ h (1 + erf(h/√2)).
enum class Activation { relu2, gelu };

/// Function of the feed-forward nodes. two_layer: φ(N(u) W1) W2 of two arrays. memory: the founding note's Hopfield
/// memory of one array, 2 max(N(u) W1, 0) W1ᵀ, which is the descent of an energy.
enum class FeedForward { two_layer, memory };

/// Sizes of the layered equilibrium transformer: L layers of weights, repeated K times, C channels, M hidden units, H heads.
struct TransformerShape {
  Index vocabulary = 65;
  Index tokens = 64;
  Index channels = 128;
  Index hidden = 512;
  Index heads = 4;
  Index layers = 2;
  Index loops = 1;
  FeedForward feed_forward = FeedForward::two_layer;
  Activation activation = Activation::relu2;  ///< activation of two_layer
  bool rotary = true;                         ///< rotary positions; else learned ones
  MixerChoice mixer;    ///< mixer of the attention nodes: softmax attention, or a kind of mixers/registry of C channels
  double feedback = 0;  ///< κ ≥ 0
  bool tables_on_devices = false;  ///< put tok and pos on devices

  Index nodes() const { return 2 * layers * loops; }
};

/// Standard deviations that training starts from, in the units of the recipe. Wq, Wk, Wv, W1 have projection/√C; Wo output/√(C
/// L); W2 output/√(M L); Wh readout/√C; tok and pos embedding. W1 of a memory has √(output/(M √L)), which moves a token by
/// about output/√L of itself.
struct TransformerScales {
  double embedding = 1.0;
  double projection = 1.0;
  double output = 0.5;
  double readout = 0.5;
};

/// Plan of a transformer whose sub-layers are the nodes of a network that settles. With z_0 := x clamped and n = 2 L K
/// nodes
///     x[t] = tok[idx_t] (+ pos[t]),   N(u) = u (mean_C u² + 1e-5)^(−1/2)
///     F_j = z_{j−1} + G_j(z_{j−1}) − z_j + κ (z_{j+1} − z_j)[j < n],   logits = N(z_n) Wh
///     j odd:  G = attention of N(u), rotary or not: o = concat_h softmax_causal(q kᵀ/√d) v, G = o Wo
///     j even: G = φ(N(u) W1) W2, or of a memory 2 max(N(u) W1, 0) W1ᵀ
/// with the weights of layer ⌊(j − 1)/2⌋ mod L. κ = 0: J is lower triangular, and the equilibrium is the forward pass,
/// which a sweep or n unit steps reach exactly. The transposed nudged phase is then backpropagation carried out by
/// relaxing currents. Products with weights are reads of their maps; norms and the products of activations are digital.
/// Another mixer may replace attention: G = Mixer(N(u)). Parameters: tok, pos if positions are learned, then per layer
/// l<l>_qkv (C, 3C: W_q | W_k | W_v), l<l>_o (or the mixer's own, l<l>_<name>), l<l>_1, l<l>_2 but for memories. Wh is
/// the last. Groups: tok, pos, l<l>_Wq, l<l>_Wk, l<l>_Wv, l<l>_Wo, l<l>_W1, l<l>_W2, Wh.
class TransformerPlan final : public NetworkPlan {
 public:
  TransformerPlan(const TransformerShape& shape, const TransformerScales& scales);

  std::string_view kind() const override { return "transformer"; }
  Index rows() const override { return shape_.tokens; }
  Index inputs() const override { return shape_.channels; }
  std::vector<Node> nodes() const override;
  std::vector<Parameter> parameters() const override;
  std::vector<ParameterGroup> groups() const override;
  Embedding embedding() const override { return {0, shape_.rotary ? -1 : 1}; }
  NodeReadout readout() const override;
  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override;
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override;
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override;
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override;

  const TransformerShape& shape() const { return shape_; }
  /// Parameter numbers of a layer. The mixer's begin with `mixer` (attention: q|k|v and output). The feed-forward part
  /// has two (for a memory twice the same).
  struct Layer {
    int mixer, first, second;
    int qkv() const { return mixer; }
    int o() const { return mixer + 1; }
  };
  Layer layer(Index l) const;
  const TransformerScales& scales() const { return scales_; }
  /// Parameters of a mixer that is not the fused attention, and flags of those that arrays may hold.
  const std::vector<Field>& mixer_fields() const { return mixer_; }
  const std::vector<bool>& readable() const { return readable_; }

 private:
  TransformerShape shape_;
  TransformerScales scales_;
  std::vector<Field> mixer_;
  std::vector<bool> readable_;
};

/// Computes G of an attention node from the source u (T, C). m = N(u), q | k | v = m W_qkv (T, 3C), rotated where
/// `rotary` (half-split pairs), o = concat_h softmax_causal(q kᵀ/√d) v, and G = o Wo. P_1 … P_H go to `probabilities`
/// if given.
template <class S>
Value<S> attention_update(Value<S> u, Value<S> qkv, Value<S> output, Index heads, bool rotary,
                          std::vector<Matrix<S>>* probabilities = nullptr);

/// Makes an attention node a term between two nodes; the place decides gain and residual.
template <class S>
std::unique_ptr<TapeTerm<S>> attention_layer(const TapePlace& place, Index heads, bool rotary,
                                             typename TapeTerm<S>::Weight qkv, typename TapeTerm<S>::Weight output);

/// Makes another mixer of mixers/registry an attention node. G is the mixer of N(u); for a kind that is the state plus
/// an update, the update alone. If the mixer has a free energy, the layer's energy (TapeTerm::RecordEnergy) is taken of
/// the tokens N(u) + z_j − u against the context N(u). At rest these tokens are Mixer(N(u)): Algorithm 1 of Ren et al.,
/// "Transformers as Intrinsic Optimizers".
template <class S>
std::unique_ptr<TapeTerm<S>> mixer_layer(const TapePlace& place, const MixerChoice& mixer,
                                         std::vector<typename TapeTerm<S>::Weight> weights);

/// Makes the term of a feed-forward node, G = φ(N(u) W1) W2.
template <class S>
std::unique_ptr<TapeTerm<S>> feed_forward_layer(const TapePlace& place, Activation activation,
                                                typename TapeTerm<S>::Weight first,
                                                typename TapeTerm<S>::Weight second);

/// Makes the term of a memory node, G = 2 max(N(u) W, 0) Wᵀ, the descent of E(m) = −Σ max(m W, 0)² at m = N(u); the
/// layer's energy is E(N(u) + z_j − u).
template <class S>
std::unique_ptr<TapeTerm<S>> memory_layer(const TapePlace& place, typename TapeTerm<S>::Weight patterns);

}  // namespace nudge
