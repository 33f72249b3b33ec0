// SPDX-License-Identifier: Apache-2.0
#include "training/config/unread_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/errors.hpp"
#include "training/config/rows.hpp"
#include "training/models/mixer_keys.hpp"
#include "training/models/model_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

using MakeMixer = std::function<MixerChoice(const Config&)>;

std::vector<MakeMixer> network_mixers(const Config& config) {
  const auto mixer = network_kind(config).mixer;
  if (mixer == nullptr || !mixer(config)) return {};
  return {[mixer](const Config& c) { return mixer(c).value(); }};
}

std::vector<MakeMixer> experiment_mixers(const Config& config) {
  std::vector<MakeMixer> all;
  for (const std::string& name : config.texts("experiment.mixers")) {
    all.emplace_back([name](const Config& c) {
      const ModelOptions model = model_options(c);
      return sequence_choice(c, name, model.channels, model.heads, model.tokens);
    });
  }
  return all;
}

bool sets_experiment(const Config& config) {
  const ParamTable rows = experiment_rows();
  return std::any_of(rows.begin(), rows.end(), [&](const ParamRow& row) { return !config.at_default(row.key); });
}

/// Values of model.mixer with which the key would act.
std::vector<std::string> readers_of(const Config& config, const std::string& key) {
  std::vector<std::string> names;
  for (const std::string& name : force_mixers()) {
    const MakeMixer mixer = [&name](const Config& c) {
      MixerChoice choice = mixer_choice(c);
      choice.kind = name;
      return choice;
    };
    try {
      static_cast<void>(mixer_spec(mixer(config)));
    } catch (const UserError&) {
      continue;  // in these sizes it is none
    }
    const std::vector<std::string> unread = unread_mixer_keys(config, {mixer});
    if (std::find(unread.begin(), unread.end(), key) == unread.end()) names.push_back(name);
  }
  return names;
}

void expect_read(const Config& config, const std::vector<MakeMixer>& mixers, const std::string& by,
                 const std::string& but = "") {
  std::string problems;
  for (const std::string& key : unread_mixer_keys(config, mixers)) {
    if (key == but) continue;
    const std::vector<std::string> readers = readers_of(config, key);
    problems +=
        fmt::format("{}{} = {} (nothing reads it: {}{})", problems.empty() ? "" : "\n", key, config.as_text(key), by,
                    readers.empty() ? "" : fmt::format("; model.mixer = {} would", fmt::join(readers, ", ")));
  }
  if (!problems.empty()) throw UserError(problems);
}

}  // namespace

void expect_mixer_keys_read(const Config& config) {
  std::vector<MakeMixer> mixers = network_mixers(config);
  std::string by = fmt::format("network.kind = {}", network_kind(config).name);
  if (mixers.empty()) {
    by += " has no mixer of [mixer]";
  } else {
    by += fmt::format(" has {}", mixers.front()(config).kind);
  }
  if (sets_experiment(config)) {
    const std::vector<MakeMixer> more = experiment_mixers(config);
    mixers.insert(mixers.end(), more.begin(), more.end());
  }
  // Whatever mixes is iterated so often by `nudge energy`.
  expect_read(config, mixers, by, mixers.empty() ? "" : "mixer.iterations");
}

void expect_experiment_keys_read(const Config& config) {
  expect_read(config, experiment_mixers(config),
              fmt::format("experiment.mixers = {}", config.as_text("experiment.mixers")));
  const auto& tasks = config.texts("experiment.tasks");
  if (!config.at_default("data.text") && std::find(tasks.begin(), tasks.end(), "characters") == tasks.end()) {
    throw UserError(fmt::format("data.text = {} (nothing reads it: experiment.tasks = {} have no text; characters has)",
                                config.as_text("data.text"), config.as_text("experiment.tasks")));
  }
}

}  // namespace nudge
