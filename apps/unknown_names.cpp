// SPDX-License-Identifier: Apache-2.0
#include "apps/unknown_names.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* find(const std::vector<const CLI::App*>& apps, const std::string& name) {
  const auto found =
      std::find_if(apps.begin(), apps.end(), [&](const CLI::App* app) { return app->get_name() == name; });
  return found == apps.end() ? nullptr : *found;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// The innermost subcommand that the leading words name; `used` of them.
const CLI::App& innermost(const CLI::App& app, const std::vector<std::string>& words, std::size_t& used) {
  const CLI::App* current = &app;
  for (used = 0; used < words.size(); ++used) {
    const CLI::App* next = find(subcommands(*current), words[used]);
    if (next == nullptr) break;
    current = next;
  }
  return *current;
}

}  // namespace

std::string unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  std::size_t used = 0;
  const CLI::App& inner = innermost(app, words, used);
  const auto known = subcommands(inner);
  if (known.empty() || used == words.size() || is_option(words[used])) return {};
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const CLI::App* sub : known) names.push_back(sub->get_name());
  if (used == 0 && words[0] == "experiment") {
    return "nudge experiment is now nudge sweep, of networks like any other: sequence_model, free_transformer and "
           "argmax_read "
           "(examples/argmax.toml, characters.toml, latent.toml, mad.toml, memorization.toml; docs/experiments.md)";
  }
  const std::string before = used == 0 ? "" : inner.get_name() + " ";
  return fmt::format("unknown command {}{} ({})", before, words[used], did_you_mean(words[used], names));
}

std::string unknown_option_hint(const CLI::App& app, const std::vector<std::string>& words) {
  std::size_t used = 0;
  const CLI::App& inner = innermost(app, words, used);
  std::vector<std::string> names;
  for (const CLI::Option* option : inner.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (; used < words.size(); ++used) {
    const std::string name = words[used].substr(0, words[used].find('='));
    if (name.rfind("--", 0) != 0 || name == "--") continue;
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return fmt::format("unknown option {} ({})", name, did_you_mean(name, names));
  }
  return {};
}

}  // namespace nudge
