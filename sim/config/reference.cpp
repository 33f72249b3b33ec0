// SPDX-License-Identifier: Apache-2.0
#include "sim/config/reference.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace nudge {
namespace {

/// Sections in the order of the table, the keys outside sections ("") first.
std::vector<std::string> sections(const ParamTable& table) {
  std::vector<std::string> names = {""};
  for (const ParamRow& row : table) {
    const std::string section(section_of(row.key));
    if (std::find(names.begin(), names.end(), section) == names.end()) names.push_back(section);
  }
  return names;
}

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '*') out += '\\';
    out += c;
  }
  return out;
}

std::string meaning(const ParamRow& row) {
  return row.source.empty() ? row.doc : fmt::format("{} [{}]", row.doc, row.source);
}

std::string default_of(const ParamRow& row) { return row.default_text.empty() ? "empty" : row.default_text; }

}  // namespace

std::string describe_table(const ParamTable& table) {
  std::string out =
      "# Configuration\n\n"
      "Made from the program's own table by `nudge config keys > docs/configuration.md`; do not edit by hand.\n\n"
      "A config is a TOML file. Values are taken from the defaults, then the preset, then the file, then `--set "
      "key=value`; the last one wins.\nA quantity is a text with its unit (`\"25 uS\"`, `\"100 ns\"`; prefixes f p n u "
      "m k "
      "M G; times also in min, h, d, temperatures in C) or a bare number in SI units; a pure number may also be "
      "a\npercentage "
      "(`\"5 %\"`). `nudge config check "
      "FILE` "
      "reports every mistake at once, in its data and the points of its sweep too; `nudge config dump FILE` prints "
      "every "
      "resolved value.\n";
  for (const std::string& section : sections(table)) {
    out += section.empty() ? "\n## Outside sections\n" : fmt::format("\n## [{}]\n", section);
    out += "\n| key | default | values | meaning |\n|---|---|---|---|\n";
    for (const ParamRow& row : table) {
      if (section_of(row.key) != section) continue;
      out += fmt::format("| `{}` | {} | {} | {} |\n", row.key, cell(default_of(row)), cell(describe_values(row)),
                         cell(meaning(row)));
    }
  }
  return out;
}

std::string help_text(const ParamTable& table) {
  std::string out;
  for (const std::string& section : sections(table)) {
    if (!section.empty()) out += fmt::format("\n[{}]\n", section);
    for (const ParamRow& row : table) {
      if (section_of(row.key) != section) continue;
      out += fmt::format("{} = {}\n    {}; {}\n", row.key, default_of(row), describe_values(row), meaning(row));
    }
  }
  return out;
}

}  // namespace nudge
