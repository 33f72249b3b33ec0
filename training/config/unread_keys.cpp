// SPDX-License-Identifier: Apache-2.0
#include "training/config/unread_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/errors.hpp"
#include "training/config/idle_rules.hpp"
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

/// Whether a file says most keys, as `nudge config dump` and the files of runs do: a record of what was, not what somebody asks for.
bool is_record(const Config& config) {
  const std::vector<std::string> keys = config.keys();
  const auto said = std::count_if(keys.begin(), keys.end(),
                                  [&](const std::string& key) { return config.origin(key).layer == Layer::file; });
  return static_cast<std::size_t>(said) > keys.size() / 2;
}

/// The keys that somebody asked for.
class AskedKeys {
 public:
  explicit AskedKeys(const Config& config) : config_(&config), record_(is_record(config)) {}

  /// Whether the key is there for nothing because of this choice: set where the choice was made, or after it. A choice that is made later,
  /// `--set network.kind=transformer` of a file for another network, leaves idle what the file says, and that is what was asked for.
  bool outlives(const std::string& key, const std::string& choice) const {
    const Origin& origin = config_->origin(key);
    const bool asked = origin.layer == Layer::option || (origin.layer == Layer::file && !record_);
    if (!asked || config_->at_default(key)) return false;
    const std::vector<std::string> chosen_by =
        choice == "device.model" ? std::vector<std::string>{choice, "device.preset"} : std::vector<std::string>{choice};
    return std::all_of(chosen_by.begin(), chosen_by.end(), [&](const std::string& one) {
      return origin.not_before(config_->origin(one)) && !varies(*config_, one);
    });
  }

 private:
  const Config* config_;
  bool record_;
};

/// What is wrong with the keys of [mixer].
std::string unread_mixer_lines(const Config& config, const AskedKeys& asked) {
  if (varies(config, "network.kind") || varies(config, ".mixer")) return "";
  const std::vector<MakeMixer> mixers = network_mixers(config);
  std::string by = fmt::format("network.kind = {}", network_kind(config).name);
  by += mixers.empty() ? " has no mixer of [mixer]" : fmt::format(" has {}", mixers.front()(config).kind);
  std::string problems;
  for (const std::string& key : unread_mixer_keys(config, mixers)) {
    if (!mixers.empty() && key == "mixer.iterations")
      continue;  // whatever mixes is iterated so often by `nudge energy`
    if (mixers.empty() && !asked.outlives(key, "network.kind")) continue;
    const std::vector<std::string> readers = readers_of(config, key);
    problems +=
        fmt::format("{}{} = {} (nothing reads it: {}{})", problems.empty() ? "" : "\n", key, config.as_text(key), by,
                    readers.empty() ? "" : fmt::format("; model.mixer = {} would", fmt::join(readers, ", ")));
  }
  return problems;
}

std::string unread_lines(const Config& config, const AskedKeys& asked, const std::vector<IdleChoice>& all) {
  std::string problems;
  for (const std::string& key : config.keys()) {
    for (const IdleChoice& choice : all) {
      if (key == choice.key || !choice.leaves(config, key) || !asked.outlives(key, choice.key)) continue;
      problems += fmt::format("{}{} = {} (nothing reads it: {})", problems.empty() ? "" : "\n", key,
                              config.as_text(key), choice.why(config, key));
      break;
    }
  }
  return problems;
}

}  // namespace

void expect_keys_read(const Config& config) {
  const AskedKeys asked(config);
  const std::string unread = unread_lines(config, asked, idle_choices());
  const std::string problems = unread.empty() ? unread_mixer_lines(config, asked) : unread;
  if (!problems.empty()) throw UserError(problems);
}

void expect_estimator_keys_read(const Config& config) {
  const AskedKeys asked(config);
  const std::string problems = unread_lines(config, asked, {idle_estimator()});
  if (!problems.empty()) throw UserError(problems);
}

}  // namespace nudge
