// SPDX-License-Identifier: Apache-2.0
#include "training/config/stored_config.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "training/config/config_table.hpp"

namespace nudge {
namespace {

/// What no file's kind reads any more: keys of the command `experiment`, which every file of its time holds.
std::string without_experiment(std::string text) {
  const std::string header = "\n[experiment]\n";
  const std::size_t begin = text.find(header);
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find("\n[", begin + header.size());
  return text.erase(begin, end == std::string::npos ? end : end - begin);
}

}  // namespace

Config stored_program_config(const H5Reader& file) {
  const std::string text = without_experiment(file.text_attribute("config"));
  std::vector<std::string> settings;
  if (text.find("[hardware]") == std::string::npos) settings.emplace_back("hardware.level=ideal");
  return parse_program_config(file.name() + " (stored config)", text, settings);
}

void expect_stored_config(const H5Reader& file, const std::string& kind, const Config& config,
                          const std::function<bool(const std::string& key)>& may_differ) {
  if (const std::string stored = file.text_attribute("kind"); stored != kind) {
    file.fail("attribute kind",
              fmt::format("\"{}\" (only a file of kind \"{}\" can be resumed by nudge {})", stored, kind, kind));
  }
  const Config stored = stored_program_config(file);
  std::string problems;
  for (const auto& d : difference(stored, config)) {
    if (d.key == "threads" || d.key.starts_with("output.") || may_differ(d.key)) continue;
    problems += fmt::format("\n  {}: {} in the file, {} in the config", d.key, d.first, d.second);
  }
  if (problems.empty()) return;
  throw UserError(
      fmt::format("{}: the {} is of another config:{}\nresume it with the config it was started with, or "
                  "start a new one with --out",
                  file.name(), kind, problems));
}

}  // namespace nudge
