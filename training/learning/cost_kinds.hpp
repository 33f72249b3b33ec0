// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/config/section.hpp"
#include "training/learning/cost.hpp"

namespace nudge {

/// User-defined cost, named by network.cost, of the output of the output node or the read-out, in place of the
/// network's own.
struct CostKind {
  std::string name;
  std::string summary;
  std::function<std::shared_ptr<const NodeCost>(const Config& config)> make;
  ParamTable keys = {};  ///< keys of its own, read where it is chosen
};

/// Adds a cost of the program, before anything else of nudge is used (OpenList).
void add_cost(CostKind kind);
const std::vector<CostKind>& cost_kinds();

/// Value of the key network.cost.
struct CostChoice {
  std::string name;  ///< name of the cost; auto: the network's own
};
const Section<CostChoice>& cost_choice_section();

/// Returns the cost that network.cost chooses; null: the network's own. UserError for an unknown name.
std::shared_ptr<const NodeCost> chosen_cost(const Config& config);

/// Value of network.cost that chooses a LentCost.
inline constexpr const char* own_cost_name = "own";
/// Reason why network.cost = own has no cost; empty: network.cost is another, or a cost is lent.
std::string own_cost_missing(const Config& config);

/// Cost of the program that uses nudge as a library; network.cost = own stands for it as long as this object lives. One
/// at a time: std::logic_error for a second.
class LentCost {
 public:
  explicit LentCost(std::shared_ptr<const NodeCost> cost);
  ~LentCost();
  LentCost(const LentCost&) = delete;
  LentCost& operator=(const LentCost&) = delete;
};

}  // namespace nudge
