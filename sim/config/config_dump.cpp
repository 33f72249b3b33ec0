// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sim/config/config.hpp"

namespace nudge {
namespace {

std::string comment(const ParamRow& row) { return fmt::format("# {} ({})\n", row.doc, describe_values(row)); }

/// The rows of one section, without its [header].
std::string dump_section(const Config& config, std::string_view section, DumpComments comments) {
  std::string out;
  for (const ParamRow& row : config.table()) {
    if (section_of(row.key) != section || row.kind == ParamKind::grid) continue;
    if (comments == DumpComments::documented) out += comment(row);
    out += fmt::format("{} = {}\n", name_of(row.key), config.as_toml(row.key));
  }
  return out;
}

std::string dump_grid(const Config& config, const ParamRow& row, DumpComments comments) {
  std::string out = fmt::format("\n[{}]\n", row.key);
  if (comments == DumpComments::documented) out += comment(row);
  for (const GridAxis& axis : config.grid(row.key)) {
    out += fmt::format("\"{}\" = {}\n", axis.key, axis_to_toml(config.table(), axis));
  }
  return out;
}

}  // namespace

std::string dump_toml(const Config& config, DumpComments comments) {
  std::string out = dump_section(config, "", comments);
  std::vector<std::string_view> done = {""};
  for (const ParamRow& row : config.table()) {
    const std::string_view section = section_of(row.key);
    if (std::find(done.begin(), done.end(), section) == done.end()) {
      done.push_back(section);
      out += fmt::format("\n[{}]\n", section) + dump_section(config, section, comments);
    }
    if (row.kind == ParamKind::grid) out += dump_grid(config, row, comments);
  }
  return out;
}

std::vector<ConfigDifference> difference(const Config& first, const Config& second) {
  std::vector<ConfigDifference> differences;
  for (const std::string& key : first.keys()) {
    const std::string a = first.as_text(key);
    const std::string b = second.as_text(key);
    if (a != b) differences.push_back({key, a, b});
  }
  return differences;
}

}  // namespace nudge
