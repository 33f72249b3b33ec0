// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/config/section.hpp"
#include "training/learning/cost.hpp"

namespace nudge {

/// A cost of one's own by the name that network.cost has: of what the output node or the read-out says, in place of the network's.
struct CostKind {
  std::string name;
  std::string summary;
  std::function<std::shared_ptr<const NodeCost>(const Config& config)> make;
  ParamTable keys = {};  ///< of its own: read where it is chosen
};

/// Adds one of a program's own, before anything else of nudge is used (OpenList).
void add_cost(CostKind kind);
const std::vector<CostKind>& cost_kinds();

/// The key network.cost.
struct CostChoice {
  std::string name;  ///< auto: the network's own
};
const Section<CostChoice>& cost_choice_section();

/// The cost that network.cost chooses; null: the network's own. UserError for one that is not here.
std::shared_ptr<const NodeCost> chosen_cost(const Config& config);

/// The value of network.cost of a LentCost, and why there is none; empty: it is another, or lent.
inline constexpr const char* own_cost_name = "own";
std::string own_cost_missing(const Config& config);

/// What network.cost = own is for as long as this lives: the cost of a program that nudge is a library of. One at a time:
/// std::logic_error for a second.
class LentCost {
 public:
  explicit LentCost(std::shared_ptr<const NodeCost> cost);
  ~LentCost();
  LentCost(const LentCost&) = delete;
  LentCost& operator=(const LentCost&) = delete;
};

}  // namespace nudge
