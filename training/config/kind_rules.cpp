// SPDX-License-Identifier: Apache-2.0
// What kinds of networks and of tasks require of each other, and of the keys that are theirs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "training/config/rows.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// The names of the kinds with such rows: "hopfield, convolutional or resistive".
template <class Kind>
std::string names_with(const std::vector<Kind>& kinds, Rows Kind::*rows, Rows wanted) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) {
    if (kind.*rows == wanted) names.push_back(kind.name);
  }
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : fmt::format("{} or {}", fmt::join(names, ", "), last);
}

ConfigRule network_takes_task() {
  return {{"network.kind", "task.kind"}, [](const Config& c) {
            const NetworkKind& network = network_kind(c);
            const TaskKind& task = task_kind(c);
            if (network.takes == task.rows) return std::string();
            return fmt::format("must be {} for task.kind = {}, which has {}; or task.kind must be {}",
                               names_with(network_kinds(), &NetworkKind::takes, task.rows), task.name,
                               task.rows == Rows::symbols ? "symbols" : "features",
                               names_with(task_kinds(), &TaskKind::rows, network.takes));
          }};
}

}  // namespace

std::vector<ConfigRule> kind_rules() { return {network_takes_task()}; }

}  // namespace nudge
