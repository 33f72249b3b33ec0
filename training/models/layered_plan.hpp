// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "circuits/terms/node_activation.hpp"
#include "circuits/terms/prediction_link.hpp"
#include "training/data/task.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// Plan of independent samples, fed by their features, whose nodes start at rest. Every parameter is a group.
class SamplePlan : public NetworkPlan {
 public:
  bool couples_rows() const override { return false; }
  StartState start() const override { return StartState::rest; }
  Embedding embedding() const override { return {-1, -1}; }
  std::vector<ParameterGroup> groups() const override;
};

/// Part of the coupling between neighbouring layers, with the field of every unit that acts the same way. All parts
/// share one coupling.
struct LayerPart {
  NodeActivation activation = NodeActivation::identity;
  std::string field;  ///< name of the parameters of its fields
  double initial = 0;
};

/// Description of layers above a clamped sample, of any physics.
struct Layers {
  std::string kind;
  std::vector<Index> hidden;
  std::string coupling;  ///< name of the parameters W_l
  std::vector<LayerPart> parts;
  double gain = 1;        ///< initial couplings are normal with gain/√n of the n units below
  double input_gain = 1;  ///< LinkEnd::gain of the sample
  /// Sets the properties of a layer, counted from 0, beyond its name and its columns.
  std::function<void(int layer, Node& node)> units = {};
  std::optional<double> quartic = {};              ///< κ of the wells of all units; none: no wells
  std::shared_ptr<const NodeCost> cost = nullptr;  ///< cost of the last layer (NodeReadout::cost)
  /// Predictions in place of the energy below: E = ½ Σ |s_l − f_l(s_{l−1} W_l + h_l)|², f the activation of the one part and the
  /// identity in the last layer.
  std::optional<Predictions> predictions = {};
};

/// Makes layers s_1 … s_L above a clamped sample s_0, neighbours coupled both ways,
///     E = E_units − Σ_l Σ_parts (ρ(s_{l−1}) W_l ρ(s_l)ᵀ + h_l ρ(s_l)ᵀ),
/// the last as wide as there are classes or values. Parameters: W_1 … W_L, which devices may hold, then the fields h of
/// every layer by part. Rows are independent samples.
std::shared_ptr<const NetworkPlan> layered_plan(Layers layers, const TaskSizes& task);

/// Widths of s_0 … s_L of a layered_plan().
std::vector<Index> layer_widths(const std::vector<Index>& hidden, const TaskSizes& task);

struct NetworkKind;

/// Network kind oscillator: phases φ of coupled oscillators in the frame that turns with them. This is the XY model, or
/// Kuramoto's model of one frequency; Wang, Wanjura & Marquardt, arXiv:2402.08579, train it by equilibrium propagation.
///     E = −Σ K_ij cos(φ_i − φ_j) − Σ h_i cos(φ_i − θ_i),      dφ/dt = −∂E/∂φ
/// The oscillators form layers. φ of layer 0 are the clamped phases `input_phase` x of the features. K_l (n_{l−1}, n_l)
/// couples a layer to the one below, and the last layer has a phase per class or value. Since cos(a − b) = cos a cos b
/// + sin a sin b, a coupling is two BilinearLinks on one map. One is driven by the cosines of both ends, one by the
/// sines. A field has the parameters hc = h cos θ and hs = h sin θ, the components in quadrature that a locking signal
/// has. The cost is C = Σ 1 − cos(φ − y), a target of y being a phase of y rad: its nudge is a field of β at that
/// phase.
NetworkKind oscillator_network();

/// Network kind thermal: layers above a clamped sample s_0 = x, coupled both ways, in a bath of temperature T,
///     E = Σ_l (½ |s_l|² + ¼ κ Σ s_l⁴ − s_{l−1} W_l s_lᵀ − b_l s_lᵀ),     P(s) ∝ exp(−E/T)
/// with relaxation.solver = sample. Any other solver finds its states of least energy, as without a bath. Units are
/// real numbers that Langevin's equation moves, or binary (0 or 1, then without ½ s² + ¼ κ s⁴). The latter are
/// stochastic bits, device by device, that see h_i/T. The binary form is a Boltzmann machine, or, with s = (1 + m)/2,
/// an Ising machine of p-bits.
NetworkKind thermal_network();

/// Network kind predictive_coding: layers z_l above a clamped sample z_0, each predicted by the one below,
///     E = ½ Σ_l |z_l − f_l(z_{l−1} M_l + b_l)|²,   f_L the identity
/// Without a nudge every error is 0 and the equilibrium is the forward pass of a perceptron. Nudged errors tell the weights how
/// to change: centered EP differs from backprop by O(β²). With fixed predictions it is backprop but for the factor 1/(1 − β²).
NetworkKind predictive_network();

/// Objects of layers beside their weights, each made when first asked for and then shared. A plan whose network is
/// never made takes no memory for them. Safe to ask from several threads.
template <class T>
class MadeOnce {
 public:
  using Make = std::function<std::shared_ptr<const T>(std::size_t layer)>;
  MadeOnce(std::size_t layers, Make make) : made_(layers), asked_(layers, false), make_(std::move(make)) {}

  std::shared_ptr<const T> of(std::size_t layer) {
    const std::lock_guard lock(mutex_);
    if (!asked_[layer]) {
      made_[layer] = make_(layer);
      asked_[layer] = true;
    }
    return made_[layer];
  }

 private:
  std::vector<std::shared_ptr<const T>> made_;
  std::vector<bool> asked_;
  Make make_;
  std::mutex mutex_;
};

}  // namespace nudge
