// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "circuits/terms/convolution.hpp"
#include "circuits/terms/node_activation.hpp"
#include "training/models/layered_plan.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// Method that keeps the states of a layered Hopfield network in range.
enum class HopfieldForm {
  energy,  ///< activation in the energy: F_l = −s_l + ρ'(s_l) ⊙ h_l
  /// Box: F_l = −s_l + h_l, projected after every step; relu: [0, ∞), hard_sigmoid: [0, 1], identity: no box.
  projected,
};

/// Sizes of a layered Hopfield network: L ≥ 1 layers above a clamped one. The first links may be convolutions.
struct HopfieldShape {
  std::vector<Index> widths;              ///< n_0 (clamped), n_1 … n_L
  std::vector<Convolution> convolutions;  ///< convolutions of the first links; outputs() = n_l, inputs() = n_{l−1}
  NodeActivation activation = NodeActivation::hard_sigmoid;  ///< activation of the hidden layers
  NodeActivation output = NodeActivation::identity;          ///< activation of layer L
  HopfieldForm form = HopfieldForm::projected;               ///< projected: reciprocal, relu, hard_sigmoid or identity
  bool asymmetric = false;                                   ///< true: feedback by weights of its own, no energy
  /// True: no feedback at all, only projected; its equilibrium is the forward pass of a perceptron.
  bool feed_forward = false;
  /// Classes V of a softmax read-out of layer L, outside the equilibrium; 0: the cost acts on the state of layer L.
  Index classes = 0;
  std::shared_ptr<MadeOnce<UnitSpread>>
      units;  ///< mismatch of layers 1 … L, null where there is none; null: of no layer
  std::vector<std::pair<int, int>> skips = {};  ///< layers of equal width joined without weights, the lower first
  Index rows = 1;                               ///< independent samples side by side

  bool reciprocal() const { return !asymmetric && !feed_forward; }
  int layers() const { return static_cast<int>(widths.size()) - 1; }
  bool convolutional(int layer) const { return layer <= static_cast<int>(convolutions.size()); }
};

/// Plan of the layered Hopfield network of the field (Scellier & Bengio 2017, arXiv:1602.05179; conventions as in the
/// cases' NETWORKS.md). Node l = 1 … L is a layer, r_0 = x clamped and r_l = ρ_l(s_l), or s_l kept in a box,
///     E = ½ Σ |s_l|² − Σ_l r_{l−1} M_l r_lᵀ − Σ_l b_l r_lᵀ − Σ_skips r_a · r_b,   F = −∂E/∂s
/// With separate feedback Q_l ≠ M_lᵀ the force is ρ_l'(s_l) ⊙ (r_{l−1} M_l + r_{l+1} Q_{l+1} + b_l) − s_l. All but the
/// leak counts as non-conservative. Without feedback s_l is the box's projection of s_{l−1} M_l + b_l. Parameters: W<l>
/// (n_{l−1}, n_l), or K<l> (C_{l−1} k k, C_l) of a convolution, for l = 1 … L; b<l> (1, n_l) or (1, C_l). With
/// asymmetric feedback also B<l> (n_l, n_{l−1}) or Kb<l> for l = 2 … L. At last Wo (n_L, V) and bo (1, V). Weights may
/// be devices, biases are numbers.
class HopfieldPlan final : public SamplePlan {
 public:
  /// Makes the plan. `gain`: factor of Glorot's uniform initial weights.
  explicit HopfieldPlan(HopfieldShape shape, double gain = 1.0);

  std::string_view kind() const override { return shape_.convolutions.empty() ? "hopfield" : "convolutional"; }
  Index rows() const override { return shape_.rows; }
  Index inputs() const override { return shape_.widths.front(); }
  std::vector<Node> nodes() const override;
  std::vector<Parameter> parameters() const override;
  /// Read-out of layer L; its parameter is −1 without one.
  NodeReadout readout() const override;
  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override;
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override;
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override;
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override;

  const HopfieldShape& shape() const { return shape_; }
  /// Parameter numbers of layer l = 1 … L; feedback for l ≥ 2 of asymmetric networks.
  int link(int layer) const { return layer - 1; }
  int bias(int layer) const { return shape_.layers() + layer - 1; }
  int feedback(int layer) const { return 2 * shape_.layers() + layer - 2; }
  /// Columns of layer l = 1 … L in the state.
  Columns columns(int layer) const;
  /// Activation ρ of layer l in the force: the identity inside a box.
  NodeActivation activation(int layer) const;
  /// Mismatch of the units of layer l, where their activation is not the identity or their box has an edge; else null.
  std::shared_ptr<const UnitSpread> units(int layer) const;

 private:
  NodeActivation kept(int layer) const { return layer == shape_.layers() ? shape_.output : shape_.activation; }
  HopfieldShape shape_;
  double gain_;
};

}  // namespace nudge
