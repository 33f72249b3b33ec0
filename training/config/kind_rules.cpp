// SPDX-License-Identifier: Apache-2.0
// What kinds of networks and of tasks require of each other, and of the keys that are theirs.
#include <fmt/format.h>

#include "circuits/rules/rule_kinds.hpp"
#include "devices/device_config.hpp"
#include "sim/config/reading.hpp"
#include "training/config/feed_forward.hpp"
#include "training/config/rows.hpp"
#include "training/learning/cost_kinds.hpp"
#include "training/models/own/own_network.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// "hopfield, convolutional or resistive"
template <class Kind, class Fits>
std::string names_of(const std::vector<Kind>& kinds, const Fits& fits) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) {
    if (fits(kind)) names.push_back(kind.name);
  }
  return alternatives_text(names);
}

bool can_learn(const NetworkKind& network, const TaskKind& task) {
  const bool fits = task.only_network.empty() ? network.takes == task.rows : task.only_network == network.name;
  return fits && (network.only_task.empty() || network.only_task == task.name);
}

ConfigRule network_takes_task() {
  return {{"network.kind", "task.kind"}, [](const Config& c) {
            const NetworkKind& network = network_kind(c);
            const TaskKind& task = task_kind(c);
            if (can_learn(network, task)) return std::string();
            const std::string why = network.takes == task.rows   ? ": " + task.summary
                                    : task.rows == Rows::symbols ? ", which has symbols"
                                                                 : ", which has features";
            return fmt::format(
                "must be {} for task.kind = {}{}; or task.kind must be {}",
                names_of(network_kinds(),
                         [&](const NetworkKind& n) {
                           return can_learn(n, task) && (n.name != "own" || own_network_missing(c).empty());
                         }),
                task.name, why, names_of(task_kinds(), [&](const TaskKind& t) { return can_learn(network, t); }));
          }};
}

ConfigRule own_is_lent() {
  return {{"network.kind"},
          [](const Config& c) { return c.text("network.kind") == "own" ? own_network_missing(c) : std::string(); }};
}

/// What reads symbols is measured in nats against what counting gives; what does not settle has its loss on the tape.
ConfigRule costs_of_samples() {
  return {{"network.cost", "network.kind"}, [](const Config& c) {
            const NetworkKind& network = network_kind(c);
            if (cost_choice_section().read(c).name == "auto") return std::string();
            if (const std::string missing = own_cost_missing(c); !missing.empty()) return missing;
            if (network.is_circuit() && network.takes == Rows::features) return std::string();
            return fmt::format("must be auto for network.kind = {}: {}", network.name,
                               network.is_circuit() ? "the loss of symbols is in nats" : "it does not settle");
          }};
}

/// What is fed by features has no tables.
ConfigRule tables_of_symbols() {
  return {{"model.embeddings", "network.kind"}, [](const Config& c) {
            const NetworkKind& network = network_kind(c);
            if (c.text("model.embeddings") == "digital" || network.takes == Rows::symbols) return std::string();
            return fmt::format("must be digital for network.kind = {}, which is fed by features and has no table",
                               network.name);
          }};
}

/// In most tasks the answer to a token stands behind it.
ConfigRule mask_hides_answers() {
  return {{"mixer.mask", "task.kind"}, [](const Config& c) {
            const std::string& task = c.text("task.kind");
            const bool hidden = task == "compression" || task == "selective_copy" || task == "forecasting";
            return c.text("mixer.mask") == "causal" || hidden
                       ? std::string()
                       : fmt::format("must be causal for task.kind = {}: tokens behind a token hold its answer", task);
          }};
}

/// Conductances of bare devices are neither several arrays nor of one sign of change.
ConfigRule rules_of_bare_devices() {
  return {{"crossbar.update", "network.kind", "device.model"}, [](const Config& c) {
            const RuleKind* rule = find_rule(c.text("crossbar.update"));
            const NetworkKind& network = network_kind(c);
            if (!network.bare || !on_devices(c) || rule == nullptr) return std::string();
            if (rule->arrays(RuleSpec{}) <= 1 && !rule->one_sided) return std::string();
            return fmt::format(
                "must be a rule of single devices for network.kind = {}, whose weights are the conductances of bare "
                "devices",
                network.name);
          }};
}

ConfigRule units_of_a_perceptron() {
  return {{"train.beside", "network.kind"}, [](const Config& c) {
            const std::string& kind = c.text("network.kind");
            const bool none = kind == "thermal" || kind == "oscillator" || kind == "netlist";
            return none && c.text("train.beside") == feed_forward_name
                       ? "must not be feed_forward for network.kind = " + kind + ", whose units no perceptron has"
                       : "";
          }};
}

}  // namespace

std::vector<ConfigRule> kind_rules() {
  return {own_is_lent(),        network_takes_task(),    costs_of_samples(),     tables_of_symbols(),
          mask_hides_answers(), rules_of_bare_devices(), units_of_a_perceptron()};
}

}  // namespace nudge
