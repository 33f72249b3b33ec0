// SPDX-License-Identifier: Apache-2.0
#include "training/config/set_by.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "training/config/config_table.hpp"

namespace nudge {
namespace {

/// Keys with the same origin, in the order of the table.
struct Given {
  std::string by;
  std::vector<std::string> keys;
};

void add(std::vector<Given>& all, const std::string& by, const std::string& key) {
  auto at = std::find_if(all.begin(), all.end(), [&](const Given& one) { return one.by == by; });
  if (at == all.end()) at = all.insert(all.end(), {by, {}});
  at->keys.push_back(key);
}

std::string line(const Given& given) {
  constexpr std::size_t most_named = 6;
  std::vector<std::string> named = given.keys;
  if (named.size() > most_named) named.resize(most_named);
  const std::size_t more = given.keys.size() - named.size();
  return fmt::format("  {}: {}{}\n", given.by, fmt::join(named, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

/// True if a study gives the key its values.
bool varies(const Config& config, const std::string& key) {
  return config.find_origin("sweep.grid." + key) != nullptr || config.find_origin("compare.grid." + key) != nullptr;
}

}  // namespace

std::string set_by(const Config& config, const std::string& key) {
  const Origin& origin = config.origin(key);
  if (origin.layer != Layer::preset) return origin.where;
  // The place in the text of a preset or level, ":16:1", which nobody sees.
  const std::string name = origin.where.substr(0, origin.where.find(':'));
  return find_row(config.table(), name) != nullptr ? fmt::format("{} = {}", name, config.as_text(name)) : name;
}

std::string choices_text(const Config& config) {
  constexpr std::size_t most_lines = 8;
  std::vector<Given> given, open;
  for (const std::string& key : config.keys()) {
    const bool is_preset = config.origin(key).layer == Layer::preset && !config.at_default(key);
    const bool is_open = !is_preset && config.as_text(key) == "auto";
    if (!(is_preset || is_open) || varies(config, key) || !training_reads(config, key)) continue;
    add(is_preset ? given : open, is_preset ? set_by(config, key) : "left to the program (auto)", key);
  }
  given.insert(given.end(), open.begin(), open.end());
  if (given.empty()) return "";
  std::string out = "set for you (nudge config check has the values):\n";
  for (std::size_t i = 0; i < std::min(given.size(), most_lines); ++i) out += line(given[i]);
  if (given.size() > most_lines) out += fmt::format("  and by {} others\n", given.size() - most_lines);
  return out;
}

}  // namespace nudge
