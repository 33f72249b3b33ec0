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

/// One of the ways in which neighbouring layers see each other, on one and the same coupling, with the field of every unit that acts the same way.
struct LayerPart {
  NodeActivation activation = NodeActivation::identity;
  std::string field;  ///< name of the parameters of its fields
  double initial = 0;
};

/// What layers above a clamped sample are, of any physics.
struct Layers {
  std::string kind;
  std::vector<Index> hidden;
  std::string coupling;  ///< name of the parameters W_l
  std::vector<LayerPart> parts;
  double gain = 1;        ///< initial couplings are normal with gain/√n of the n units below
  double input_gain = 1;  ///< LinkEnd::gain of the sample
  std::function<void(int layer, Node& node)> units =
      {};                              ///< what a layer, counted from 0, has beyond its name and its columns
  std::optional<double> quartic = {};  ///< κ of the wells of all units; none: they have no wells
  std::shared_ptr<const NodeCost> cost = nullptr;  ///< NodeReadout::cost of the last layer
};

/// Layers s_1 … s_L above a clamped sample s_0, neighbours coupled both ways,
///     E = E_units − Σ_l Σ_parts (ρ(s_{l−1}) W_l ρ(s_l)ᵀ + h_l ρ(s_l)ᵀ),
/// the last as wide as there are classes or values. Parameters: W_1 … W_L, which devices may hold, then the fields h of every layer by part.
/// Rows are independent samples.
std::shared_ptr<const NetworkPlan> layered_plan(Layers layers, const TaskSizes& task);

/// Widths of s_0 … s_L of such a network.
std::vector<Index> layer_widths(const std::vector<Index>& hidden, const TaskSizes& task);

}  // namespace nudge
