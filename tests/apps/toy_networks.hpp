// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/training/network_kinds.hpp"
#include "training/data/task.hpp"

namespace nudge::test {

using Settings = std::vector<std::string>;

/// A kind of network, and a kind of task.
struct Pair {
  std::string network, task;
};

/// All of the registries that go together by the rules of `nudge config check`: those that ask for nothing but the two kinds.
inline std::vector<Pair> accepted_pairs() {
  const auto of_kinds = [](const std::string& key) { return key == "network.kind" || key == "task.kind"; };
  std::vector<Pair> pairs;
  for (const NetworkKind& network : network_kinds()) {
    for (const TaskKind& task : task_kinds()) {
      Config config = standard_program_config();
      config.set_from_text("network.kind", network.name);
      config.set_from_text("task.kind", task.name);
      const auto& rules = program_schema().rules;
      const bool refused = std::any_of(rules.begin(), rules.end(), [&](const ConfigRule& rule) {
        return std::all_of(rule.keys.begin(), rule.keys.end(), of_kinds) && !rule.broken(config).empty();
      });
      if (!refused) pairs.push_back({network.name, task.name});
    }
  }
  return pairs;
}

/// As few of them as have every kind that is in all: those of two new kinds first.
inline std::vector<Pair> covering(const std::vector<Pair>& pairs) {
  std::vector<Pair> chosen;
  std::set<std::string> seen;
  for (const std::size_t fresh : {2, 1}) {
    for (const Pair& pair : pairs) {
      const std::size_t own = (seen.count(pair.network) == 0 ? 1 : 0) + (seen.count(pair.task) == 0 ? 1 : 0);
      if (own < fresh) continue;
      seen.insert({pair.network, pair.task});
      chosen.push_back(pair);
    }
  }
  return chosen;
}

/// What a task needs beside what small() has for the network. A new kind of task that needs nothing stands nowhere.
inline Settings task_needs(const std::string& task) {
  static const std::map<std::string, Settings> all = {
      {"latent", {"model.tokens=66", "latent.pairs=2"}},
      {"memorization", {"model.tokens=20"}},
      {"forecasting", {"series.patch=2", "series.horizon=2", "series.length=400"}},
      {"series", {"series.patch=1", "series.horizon=2", "series.length=400"}}};
  const auto found = all.find(task);
  if (found != all.end()) return found->second;
  const TaskKind& kind = named(task_kinds(), task);
  return kind.metric == "accuracy" && kind.rows == Rows::symbols ? Settings{"model.tokens=19"} : Settings{};  // of MAD
}

/// Whether a setting is for other kinds alone: it would change nothing, and takes time to be read. Not sizes, which tasks read too.
template <class Kind>
bool of_others(const std::vector<Kind>& kinds, const std::string& own, const std::string& key) {
  const auto reads_it = [&](const Kind& kind) { return find_row(kind.keys, key) != nullptr; };
  return !key.starts_with("model.") && std::any_of(kinds.begin(), kinds.end(), reads_it) &&
         !reads_it(named(kinds, own));
}

/// `--set` of a small training of the pair on top of small_network, with more of them. The kinds come last: what they do not read may
/// stand before them.
inline Settings toy_settings(const Pair& pair, const Settings& more) {
  Settings all = small_settings(pair.network);
  const auto add = [&all](const Settings& some) { all.insert(all.end(), some.begin(), some.end()); };
  add({"data.validation_fraction=0.01", "data.test_fraction=0.01", "relaxation.free_steps=60",
       "relaxation.nudged_steps=30", "threads=1", "train.steps=4", "train.warmup=0", "train.evaluate_every=2",
       "train.checkpoint_every=2", "gradcheck.finite_difference_entries=2",
       "gradcheck.estimators=" + standard_program_config().as_text("gradcheck.estimators")});
  add(task_needs(pair.task));
  if (pair.network == "netlist" && pair.task == "regression") add({"netlist.outputs=['o0']"});  // one value
  if (pair.network == "netlist" && pair.task == "series") add({"netlist.outputs=['o0', 'o1']"});
  add(more);
  std::erase_if(all, [&](const std::string& one) {
    const std::string key = one.substr(0, one.find('='));
    return key == "network.kind" || key == "task.kind" || of_others(network_kinds(), pair.network, key) ||
           of_others(task_kinds(), pair.task, key);
  });
  add({"task.kind=" + pair.task, "network.kind=" + pair.network});
  return all;
}

}  // namespace nudge::test
