// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "training/learning/node_cost.hpp"

namespace nudge {

/// What is put in front of the read-out.
enum class Normalization { none, rms };

/// The cost's read-out of a node: logits = N(z_node) W.
struct NodeReadout {
  int parameter = 0;  ///< -1: none, the cost is of the node itself
  int node = 0;
  Normalization normalization = Normalization::none;
  int bias = -1;  ///< parameter (1, V) that is added to the logits; -1: none
  std::shared_ptr<const NodeCost> cost =
      nullptr;  ///< of the logits, or of the node itself; null: cross-entropy, or half the squared error
};

}  // namespace nudge
