// SPDX-License-Identifier: Apache-2.0
#include "sim/config/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/base/bounded_read.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Every key that came from one layer, and what was wrong with it.
struct Reader {
  Config& config;
  std::vector<std::string> problems = {};
  std::vector<std::string> bad_keys = {};

  void take(const std::vector<RawEntry>& entries, Layer layer, const std::string& name) {
    for (const RawEntry& entry : entries) {
      const std::size_t before = problems.size();
      config.set(entry, layer, name, problems);
      if (problems.size() > before) bad_keys.push_back(entry.key);
    }
  }

  void take_setting(const std::string& setting) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.push_back(fmt::format("--set {}: must be key=value, as in --set train.steps=500", setting));
      return;
    }
    std::string key = setting.substr(0, equals);
    std::erase_if(key, [](char c) { return c == '"' || c == '\''; });  // sweep.grid."device.read_noise", as in a file
    try {
      config.set_from_text(key, setting.substr(equals + 1));
    } catch (const UserError& error) {
      problems.emplace_back(error.what());
      bad_keys.push_back(key);
    }
  }
};

/// The preset that the settings, else the file, else an earlier preset ask for; "" for none. Settings are read as they are
/// taken later, quotes and all; one that is wrong is reported there.
std::string preset_name(const std::string& key, const Config& config, const std::vector<RawEntry>& file,
                        const std::vector<std::string>& settings) {
  const auto in_file = [&](const RawEntry& entry) { return entry.key == key; };
  const auto in_settings = [&](const std::string& setting) { return setting.starts_with(key + "="); };
  if (std::none_of(file.begin(), file.end(), in_file) && std::none_of(settings.begin(), settings.end(), in_settings)) {
    return config.text(key);
  }
  Config asked = config;
  Reader reader{asked};
  for (const RawEntry& entry : file) {
    if (in_file(entry)) reader.take({entry}, Layer::file, "");
  }
  for (const std::string& setting : settings) {
    if (in_settings(setting)) reader.take_setting(setting);
  }
  return asked.text(key);
}

/// Presets, then the text, then the settings.
void take_layers(const ConfigSchema& schema, const std::string& name, const std::vector<RawEntry>& entries,
                 const std::vector<std::string>& settings, Reader& reader) {
  for (const PresetKey& preset : schema.presets) {
    const std::string chosen = preset_name(preset.key, reader.config, entries, settings);
    if (chosen.empty()) continue;
    const std::string label = fmt::format("{} {}", preset.key, chosen);
    try {
      reader.take(read_toml(preset.text(chosen), label), Layer::preset, label);
    } catch (const UserError& error) {
      reader.problems.emplace_back(error.what());
    }
  }
  reader.take(entries, Layer::file, name);
  for (const std::string& setting : settings) reader.take_setting(setting);
}

/// The text with the most specific place that set one of the keys it names in front; `best`, if there is one, wins where it is as specific.
std::string placed(const Config& config, const std::string& text, const Origin* best = nullptr) {
  const char* const name_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  for (std::size_t end = 0, begin = text.find_first_of(name_characters); begin != std::string::npos;
       begin = text.find_first_of(name_characters, end)) {
    end = std::min(text.find_first_not_of(name_characters, begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const Origin* origin = config.find_origin(word);
    if (origin == nullptr || origin->layer == Layer::standard) continue;
    if (best == nullptr || origin->layer > best->layer) best = origin;
  }
  return best == nullptr ? text : best->where + ": " + text;
}

std::vector<std::string> problems_of(const Config& config, const ConfigCheck& check) {
  std::vector<std::string> problems;
  try {
    check(config);
  } catch (const UserError& error) {
    std::istringstream lines(error.what());
    for (std::string line; std::getline(lines, line);) problems.push_back(placed(config, line));
  }
  return problems;
}

void run_checks(const ConfigSchema& schema, const Config& config, std::vector<std::string>& problems) {
  for (const ConfigCheck& check : schema.checks) {
    if (!problems.empty()) return;
    problems = problems_of(config, check);
  }
}

void check_rules(const ConfigSchema& schema, const Config& config, const std::vector<std::string>& bad_keys,
                 std::vector<std::string>& problems) {
  for (const ConfigRule& rule : schema.rules) {
    const std::string broken = rule.broken(config);
    const bool involved = std::any_of(bad_keys.begin(), bad_keys.end(), [&](const std::string& key) {
      return std::find(rule.keys.begin(), rule.keys.end(), key) != rule.keys.end() || broken.find(key) != broken.npos;
    });
    if (broken.empty() || involved) continue;
    const std::string& key = rule.keys.front();
    const std::string& place = *std::max_element(rule.keys.begin(), rule.keys.end(), [&](const auto& a, const auto& b) {
      return config.origin(a).layer < config.origin(b).layer;
    });
    problems.push_back(
        placed(config, fmt::format("{} = {} ({})", key, config.as_text(key), broken), &config.origin(place)));
  }
  run_checks(schema, config, problems);
}

}  // namespace

Config parse_config(const ConfigSchema& schema, const std::string& name, const std::string& text,
                    const std::vector<std::string>& settings) {
  const std::vector<RawEntry> entries = read_toml(text, name);
  const Config standard = schema.standard ? schema.standard() : Config(schema.table);
  Config config = standard;
  Reader reader{config};
  if (schema.derived) {
    Config asked = standard;
    Reader trial{asked};
    take_layers(schema, name, entries, settings, trial);
    const std::string derived = trial.problems.empty() ? schema.derived(asked) : "";
    reader.take(read_toml(derived, schema.derived_name), Layer::preset, schema.derived_name);
  }
  take_layers(schema, name, entries, settings, reader);
  check_rules(schema, config, reader.bad_keys, reader.problems);
  if (!reader.problems.empty()) throw UserError(fmt::format("{}", fmt::join(reader.problems, "\n")));
  return config;
}

Config load_config(const ConfigSchema& schema, const std::string& path, const std::vector<std::string>& settings) {
  if (std::filesystem::is_directory(path)) throw UserError(fmt::format("{}: is a directory, not a TOML file", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError(fmt::format("{}: cannot read the config: {}", path, std::strerror(errno)));
  const std::string text = read_bounded(file, path, expected_bytes(path));
  if (text.starts_with("\x89HDF\r\n")) {
    throw UserError(
        fmt::format("{}: is an HDF5 file, not a TOML config. `nudge info {}` shows its contents; continue a run "
                    "with --resume {}",
                    path, path, path));
  }
  return parse_config(schema, path, text, settings);
}

void check_placed(const Config& config, const ConfigCheck& check) {
  const std::vector<std::string> problems = problems_of(config, check);
  if (!problems.empty()) throw UserError(fmt::format("{}", fmt::join(problems, "\n")));
}

std::vector<std::string> broken_rules(const ConfigSchema& schema, const Config& config) {
  std::vector<std::string> problems;
  check_rules(schema, config, {}, problems);
  return problems;
}

}  // namespace nudge
