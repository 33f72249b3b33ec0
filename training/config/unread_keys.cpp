// SPDX-License-Identifier: Apache-2.0
#include "training/config/unread_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/errors.hpp"
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

bool begins(const std::string& key, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& one) { return one.ends_with('.') ? key.starts_with(one) : key == one; });
}

/// What every training on exact numbers reads.
bool is_of_training(const std::string& key) {
  static const std::vector<std::string> of_circuits = {"train.step_time", "train.skip_ratio", "train.leave_out_ratio",
                                                       "train.cosine_every"};
  static const std::vector<std::string> all = {"preset",  "seed",     "threads",      "precision",   "estimator",
                                               "output.", "product.", "network.kind", "task.",       "data.",
                                               "train.",  "sweep.",   "compare.",     "model.tokens"};
  return begins(key, all) && !begins(key, of_circuits);
}

/// Whether a sweep or a comparison chooses among values of such a key.
bool varies(const Config& config, const std::string& key_part) {
  const auto chooses = [&](const std::string& text) { return text.find(key_part) != std::string::npos; };
  const auto& entrants = config.texts("compare.entrants");
  if (std::any_of(entrants.begin(), entrants.end(), chooses)) return true;
  for (const char* grid : {"sweep.grid", "compare.grid"}) {
    const auto& axes = config.grid(grid);
    if (std::any_of(axes.begin(), axes.end(), [&](const GridAxis& axis) { return chooses(axis.key); })) return true;
  }
  return false;
}

/// What is wrong with the keys of [mixer].
std::string unread_mixer_lines(const Config& config) {
  if (varies(config, "network.kind") || varies(config, ".mixer")) return "";
  const std::vector<MakeMixer> mixers = network_mixers(config);
  std::string by = fmt::format("network.kind = {}", network_kind(config).name);
  by += mixers.empty() ? " has no mixer of [mixer]" : fmt::format(" has {}", mixers.front()(config).kind);
  std::string problems;
  for (const std::string& key : unread_mixer_keys(config, mixers)) {
    if (!mixers.empty() && key == "mixer.iterations")
      continue;  // whatever mixes is iterated so often by `nudge energy`
    const std::vector<std::string> readers = readers_of(config, key);
    problems +=
        fmt::format("{}{} = {} (nothing reads it: {}{})", problems.empty() ? "" : "\n", key, config.as_text(key), by,
                    readers.empty() ? "" : fmt::format("; model.mixer = {} would", fmt::join(readers, ", ")));
  }
  return problems;
}

/// What is set beside what a network on a tape reads.
std::string unread_lines(const Config& config) {
  const NetworkKind& kind = network_kind(config);
  std::string problems;
  if (kind.is_circuit() || varies(config, "network.kind")) return problems;
  for (const std::string& key : config.keys()) {
    const bool set = config.origin(key).layer == Layer::file || config.origin(key).layer == Layer::option;
    if (!set || is_of_training(key) || begins(key, kind.reads) || config.at_default(key)) continue;
    problems += fmt::format("{}{} = {} (nothing reads it: network.kind = {} does not settle and has no devices)",
                            problems.empty() ? "" : "\n", key, config.as_text(key), kind.name);
  }
  return problems;
}

}  // namespace

void expect_keys_read(const Config& config) {
  const std::string unread = unread_lines(config);
  const std::string problems = unread.empty() ? unread_mixer_lines(config) : unread;
  if (!problems.empty()) throw UserError(problems);
}

}  // namespace nudge
