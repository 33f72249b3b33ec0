// SPDX-License-Identifier: Apache-2.0
#include "training/compare/entrants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "training/learning/estimators/estimator.hpp"

namespace nudge {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_estimator(const std::string& name) {
  const auto& names = estimator_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool sets(const Entrant& entrant, const std::string& key) {
  return std::any_of(entrant.settings.begin(), entrant.settings.end(),
                     [&](const std::string& one) { return trimmed(one.substr(0, one.find('='))) == key; });
}

[[noreturn]] void fail(const std::string& file, const std::string& entry, const std::string& rule) {
  throw UserError(fmt::format("{}: compare.entrants: \"{}\" ({})", file, entry, rule));
}

Entrant read_entrant(const std::string& entry, const std::string& file) {
  const std::size_t colon = entry.find(':');
  Entrant entrant{trimmed(entry.substr(0, colon)), {}};
  if (entrant.name.empty()) fail(file, entry, "must start with a name");
  if (colon != std::string::npos) {
    std::istringstream in(entry.substr(colon + 1));
    for (std::string one; std::getline(in, one, ';');) {
      one = trimmed(one);
      if (one.empty()) continue;
      if (one.find('=') == std::string::npos) fail(file, entry, "settings are written key=value; key=value");
      entrant.settings.push_back(one);
    }
  }
  if (!sets(entrant, "estimator") && is_estimator(entrant.name)) {
    entrant.settings.insert(entrant.settings.begin(), "estimator=" + entrant.name);
  }
  if (entrant.settings.empty()) {
    fail(file, entry, "must be an estimator, or NAME: key=value; " + did_you_mean(entrant.name, estimator_names()));
  }
  return entrant;
}

}  // namespace

std::vector<Entrant> read_entrants(const Config& config, const std::string& file) {
  std::vector<Entrant> entrants;
  for (const std::string& entry : config.texts("compare.entrants")) {
    entrants.push_back(read_entrant(entry, file));
    const Entrant& last = entrants.back();
    for (std::size_t i = 0; i + 1 < entrants.size(); ++i) {
      if (entrants[i].name == last.name) fail(file, entry, "the name stands twice");
    }
    for (const char* key : {"seed", "threads"}) {
      if (sets(last, key)) fail(file, entry, fmt::format("{} is set by the protocol", key));
    }
    for (const GridAxis& axis : config.grid("compare.grid")) {
      if (sets(last, axis.key)) fail(file, entry, fmt::format("{} is tuned in compare.grid", axis.key));
    }
  }
  if (entrants.size() < 2) throw UserError(file + ": compare.entrants needs two entrants or more");
  return entrants;
}

}  // namespace nudge
