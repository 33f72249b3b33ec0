// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/bilinear_link.hpp"

namespace nudge {

/// Predictions of a layer while the network is nudged.
enum class Predictions {
  free,   ///< they follow the state of the layer below: the network has an energy
  fixed,  ///< they stay as they were: errors alone come down, by transposed reads
};

/// Prediction of a layer by the one below, one row per sample, of a predictive coding network (Rao & Ballard, Nat. Neurosci. 2:79,
/// 1999; Whittington & Bogacz, Neural Comput. 29:1229, 2017):
///     h = z_a M + b,   p = f(h),   E = ½ |p|² − z_b pᵀ
///     F_b += p,   F_a += ((z_b − p) ⊙ f'(h)) Mᵀ
/// With the leak ½ |z_b|² of its node that is the energy ½ |z_b − p|² of a prediction error. M is one map read both ways, b a map
/// (1, n_b) driven by a constant 1. `from` may be the clamped input of the circuit.
///
/// With fixed predictions F_a is left out. The force then settles as a perceptron and is not conservative. In a nudged phase through
/// the transpose (NudgedForm::transposed) errors come down as e_a = (e_b ⊙ f'(h)) Mᵀ, with h as it was. This is predictive coding
/// under the fixed prediction assumption; its weight changes are as in backprop (Millidge, Tschantz & Buckley,
/// arXiv:2006.04182; Rosenbaum, arXiv:2106.13082).
template <class S>
class PredictionLink final : public Term<S> {
 public:
  /// Makes a link; `to.activation` is f and `from` has none. `bias`: parameter and map of b.
  PredictionLink(const LinkEnd& from, const LinkEnd& to, const LinkWeights<S>& weights, const LinkWeights<S>& bias,
                 Predictions predictions);

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  bool clamped() const { return from_.node == Term<S>::kInput; }
  bool fixed() const { return predictions_ == Predictions::fixed; }
  /// True if errors act on the layer below.
  bool drives_from() const { return !fixed() && !clamped(); }
  bool has(Part part) const { return part == Part::all || (part == Part::nonconservative) == fixed(); }

  LinkEnd from_, to_;
  LinkWeights<S> weights_, bias_;
  Predictions predictions_;
};

}  // namespace nudge
