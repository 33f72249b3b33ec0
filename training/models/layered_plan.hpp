// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "circuits/terms/node_activation.hpp"
#include "training/data/task.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

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
};

/// Makes layers s_1 … s_L above a clamped sample s_0, neighbours coupled both ways,
///     E = E_units − Σ_l Σ_parts (ρ(s_{l−1}) W_l ρ(s_l)ᵀ + h_l ρ(s_l)ᵀ),
/// the last as wide as there are classes or values. Parameters: W_1 … W_L, which devices may hold, then the fields h of
/// every layer by part. Rows are independent samples.
std::shared_ptr<const NetworkPlan> layered_plan(Layers layers, const TaskSizes& task);

/// Widths of s_0 … s_L of a layered_plan().
std::vector<Index> layer_widths(const std::vector<Index>& hidden, const TaskSizes& task);

}  // namespace nudge
