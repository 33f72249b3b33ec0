// SPDX-License-Identifier: Apache-2.0
#include "training/config/entrants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "training/config/feed_forward.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_estimator(const std::string& name) { return find_estimator(name) != nullptr || name == backprop_name; }

bool sets(const Entrant& entrant, const std::string& key) {
  return std::any_of(entrant.settings.begin(), entrant.settings.end(),
                     [&](const std::string& one) { return trimmed(one.substr(0, one.find('='))) == key; });
}

[[noreturn]] void fail(const std::string& entry, const std::string& rule) {
  throw UserError(fmt::format("compare.entrants: \"{}\" ({})", entry, rule));
}

/// What the settings make of the config, by key; of keys and values that are none, the text: they are refused where they are used.
std::map<std::string, std::string> what_it_sets(const Entrant& entrant, const Config& config) {
  std::map<std::string, std::string> out;
  Config moved = config;
  for (const std::string& one : entrant.settings) {
    const std::size_t equals = one.find('=');
    const std::string key = trimmed(one.substr(0, equals)), text = trimmed(one.substr(equals + 1));
    out[key] = text;
    try {
      moved.set_from_text(key, text);
      if (find_row(config.table(), key) != nullptr) out[key] = moved.as_text(key);
    } catch (const UserError&) {
      continue;
    }
  }
  return out;
}

Entrant read_entrant(const std::string& entry, const Config& config) {
  const std::size_t colon = entry.find(':');
  Entrant entrant{trimmed(entry.substr(0, colon)), {}};
  if (entrant.name.empty()) fail(entry, "must start with a name");
  if (colon != std::string::npos) {
    std::istringstream in(entry.substr(colon + 1));
    for (std::string one; std::getline(in, one, ';');) {
      one = trimmed(one);
      if (one.empty()) continue;
      if (one.find('=') == std::string::npos) fail(entry, "settings are written key=value; key=value");
      entrant.settings.push_back(one);
    }
  }
  if (entrant.name == feed_forward_name) {
    std::vector<std::string> all = feed_forward_settings(config);
    all.insert(all.end(), entrant.settings.begin(), entrant.settings.end());
    entrant.settings = std::move(all);
  } else if (!sets(entrant, "estimator") && is_estimator(entrant.name)) {
    entrant.settings.insert(entrant.settings.begin(), "estimator=" + entrant.name);
  }
  if (entrant.settings.empty()) {
    fail(entry,
         "must be an estimator, feed_forward, or NAME: key=value; " + did_you_mean(entrant.name, estimator_names()));
  }
  return entrant;
}

}  // namespace

std::vector<Entrant> read_entrants(const Config& config) {
  std::vector<Entrant> entrants;
  std::vector<std::map<std::string, std::string>> set;
  for (const std::string& entry : config.texts("compare.entrants")) {
    entrants.push_back(read_entrant(entry, config));
    const Entrant& last = entrants.back();
    set.push_back(what_it_sets(last, config));
    for (std::size_t i = 0; i + 1 < entrants.size(); ++i) {
      if (entrants[i].name == last.name) fail(entry, "the name stands twice");
      if (set[i] == set.back())
        fail(entry, fmt::format("has the same settings as \"{}\", so it would repeat its runs", entrants[i].name));
    }
    for (const char* key : {"seed", "threads", "data.test_seed", "data.split_seed"}) {
      if (sets(last, key)) fail(entry, fmt::format("{} is set by the protocol", key));
    }
    if (sets(last, "train.null"))
      fail(entry,
           "a comparison has no baseline runs of its own: make the null a method with crossbar.update = none or "
           "train.learns = readout");
    for (const GridAxis& axis : config.grid("compare.grid")) {
      if (sets(last, axis.key)) fail(entry, fmt::format("{} is tuned in compare.grid", axis.key));
    }
  }
  if (entrants.size() < 2) throw UserError("compare.entrants needs two methods or more");
  return entrants;
}

}  // namespace nudge
