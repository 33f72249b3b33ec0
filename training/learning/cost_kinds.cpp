// SPDX-License-Identifier: Apache-2.0
#include "training/learning/cost_kinds.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/open_list.hpp"

namespace nudge {
namespace {

OpenList<CostKind>& added_costs() {
  static OpenList<CostKind> kinds({});
  return kinds;
}

std::shared_ptr<const NodeCost>& lent_cost() {
  static std::shared_ptr<const NodeCost> cost;
  return cost;
}

constexpr const char* kNetworks = "auto";

std::string cost_help() {
  std::string help =
      "Cost between the output and its targets. auto: that of the network (cross-entropy of a read-out, half the "
      "squared error of a node, 1 - cos of phases). own: the cost of the calling program (from Python: cost=...)";
  for (const CostKind& kind : cost_kinds()) help += fmt::format("; {}: {}", kind.name, kind.summary);
  return help + ".";
}

}  // namespace

void add_cost(CostKind kind) {
  if (kind.name == kNetworks || kind.name == own_cost_name) {
    throw std::logic_error("the cost \"" + kind.name + "\" is there already");
  }
  added_costs().add(std::move(kind));
}

const std::vector<CostKind>& cost_kinds() { return added_costs().all(); }

const Section<CostChoice>& cost_choice_section() {
  std::vector<std::string> names = {kNetworks, own_cost_name};
  for (const CostKind& kind : cost_kinds()) names.push_back(kind.name);
  static const Section<CostChoice> section = {
      field(param::choice("network.cost", kNetworks, names, cost_help()), &CostChoice::name)};
  return section;
}

std::string own_cost_missing(const Config& config) {
  if (cost_choice_section().read(config).name != own_cost_name || lent_cost() != nullptr) return "";
  return "it is code of the program that ran it, which is not available here. Use Python: nudge.train(..., "
         "cost=...), nudge.resume(file, cost=...)";
}

std::shared_ptr<const NodeCost> chosen_cost(const Config& config) {
  const std::string name = cost_choice_section().read(config).name;
  if (name == kNetworks) return nullptr;
  if (name == own_cost_name) {
    if (const std::string missing = own_cost_missing(config); !missing.empty()) {
      throw UserError("network.cost = own: " + missing);
    }
    return lent_cost();
  }
  return named(cost_kinds(), name).make(config);  // a choice of its row
}

LentCost::LentCost(std::shared_ptr<const NodeCost> cost) {
  if (lent_cost() != nullptr) throw std::logic_error("a cost is lent already");
  lent_cost() = std::move(cost);
}

LentCost::~LentCost() { lent_cost() = nullptr; }

}  // namespace nudge
