// SPDX-License-Identifier: Apache-2.0
#include "sim/config/param_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/config/suggest.hpp"

namespace nudge {

bool contains(const Range& range, double value) {
  if (range.or_zero && value == 0) return true;
  const bool above_minimum = range.open_minimum ? value > range.minimum : value >= range.minimum;
  const bool below_maximum = range.open_maximum ? value < range.maximum : value <= range.maximum;
  return above_minimum && below_maximum;
}

std::string describe(const Range& range, Unit unit) {
  const bool low = std::isfinite(range.minimum);
  const bool high = std::isfinite(range.maximum);
  const std::string minimum = format_quantity(range.minimum, unit);
  const std::string maximum = format_quantity(range.maximum, unit);
  if (low && high) {
    return fmt::format("{}in {}{}, {}{}", range.or_zero ? "0 or " : "", range.open_minimum ? '(' : '[', minimum,
                       maximum, range.open_maximum ? ')' : ']');
  }
  if (low) return fmt::format("{} {}", range.open_minimum ? ">" : ">=", minimum);
  if (high) return fmt::format("{} {}", range.open_maximum ? "<" : "<=", maximum);
  return {};
}

namespace param {
ParamRow integer(std::string key, std::string value, Range range, std::string doc, std::string source) {
  return {std::move(key), ParamKind::integer, std::move(value), std::move(doc), std::move(source), Unit::none, range};
}
ParamRow real(std::string key, std::string value, Range range, std::string doc, std::string source) {
  return {std::move(key), ParamKind::real, std::move(value), std::move(doc), std::move(source), Unit::none, range};
}
ParamRow quantity(std::string key, std::string value, Unit unit, Range range, std::string doc, std::string source) {
  return {std::move(key), ParamKind::real, std::move(value), std::move(doc), std::move(source), unit, range};
}
ParamRow flag(std::string key, std::string value, std::string doc, std::string source) {
  return {std::move(key), ParamKind::flag, std::move(value), std::move(doc), std::move(source)};
}
ParamRow text(std::string key, std::string value, std::string doc, std::string source) {
  return {std::move(key), ParamKind::text, std::move(value), std::move(doc), std::move(source)};
}
ParamRow path(std::string key, std::string value, std::string doc, std::string source) {
  return {std::move(key), ParamKind::path, std::move(value), std::move(doc), std::move(source)};
}
ParamRow choice(std::string key, std::string value, std::vector<std::string> choices, std::string doc,
                std::string source) {
  return {std::move(key),    ParamKind::choice, std::move(value), std::move(doc),
          std::move(source), Unit::none,        any_number(),     std::move(choices)};
}
ParamRow named(std::string key, std::string value, std::string doc, std::string source) {
  return choice(std::move(key), std::move(value), {}, std::move(doc), std::move(source));
}
ParamRow integers(std::string key, std::string value, Range range, std::string doc, std::string source) {
  return {std::move(key), ParamKind::integers, std::move(value), std::move(doc), std::move(source), Unit::none, range};
}
ParamRow reals(std::string key, std::string value, Range range, std::string doc, std::string source) {
  return {std::move(key), ParamKind::reals, std::move(value), std::move(doc), std::move(source), Unit::none, range};
}
ParamRow texts(std::string key, std::string value, std::vector<std::string> choices, std::string doc,
               std::string source) {
  return {std::move(key),    ParamKind::texts, std::move(value), std::move(doc),
          std::move(source), Unit::none,       any_number(),     std::move(choices)};
}
ParamRow grid(std::string key, std::string doc, std::string source) {
  return {std::move(key), ParamKind::grid, "", std::move(doc), std::move(source)};
}
ParamRow distinct(ParamRow row) {
  row.distinct = true;
  return row;
}
ParamRow zero_is(std::string word, ParamRow row) {
  row.zero = std::move(word);
  if (row.default_text == "0" && row.range.minimum >= 0) row.default_text = row.zero;
  return row;
}
ParamRow formerly(std::vector<std::string> names, ParamRow row) {
  row.former = std::move(names);
  return row;
}
}  // namespace param

const ParamRow* find_row(const ParamTable& table, std::string_view key) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const ParamRow& row) { return row.key == key; });
  return found == table.end() ? nullptr : &*found;
}

std::string_view section_of(std::string_view key) {
  const auto dot = key.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

std::string_view name_of(std::string_view key) {
  const auto dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(dot + 1);
}

std::string describe_values(const ParamRow& row) {
  if (!row.zero.empty()) {
    ParamRow numbers = row;
    numbers.zero.clear();
    numbers.range.or_zero = false;
    if (row.range.minimum == 0) numbers.range.open_minimum = true;
    if (row.range.minimum < 0) numbers.range.minimum = 0;
    return fmt::format("{} or {}", row.zero, describe_values(numbers));
  }
  const std::string range = describe(row.range, row.unit);
  const std::string once = row.distinct ? ", each once" : "";
  const std::string limits = range.empty() ? "" : " " + range;
  std::vector<std::string> named;
  named.reserve(row.choices.size());
  for (const std::string& choice : row.choices) named.push_back(choice.empty() ? "\"\"" : choice);
  const std::string choices = fmt::format("{}", fmt::join(named, ", "));
  switch (row.kind) {
    case ParamKind::integer: return "whole number" + limits;
    case ParamKind::real:
      return row.unit == Unit::none ? "number" + limits
                                    : fmt::format("quantity in {}{}", unit_symbol(row.unit), limits);
    case ParamKind::flag: return "true, false";
    case ParamKind::text: return "text";
    case ParamKind::path: return "path";
    case ParamKind::choice: return "one of " + choices;
    case ParamKind::integers: return "list of whole numbers" + limits + once;
    case ParamKind::reals: return "list of numbers" + limits + once;
    case ParamKind::texts: return "list of " + (row.choices.empty() ? "texts" : choices) + once;
    case ParamKind::grid: return "table of lists";
  }
  return {};
}

std::string key_hint(const ParamTable& table, std::string_view key) {
  for (const ParamRow& row : table) {
    if (std::find(row.former.begin(), row.former.end(), key) == row.former.end()) continue;
    return fmt::format("is now {} ({})", row.key, row.doc);
  }
  std::vector<std::string> keys, sections, siblings;
  for (const ParamRow& row : table) {
    keys.push_back(row.key);
    const std::string section(section_of(row.key));
    if (section == section_of(key)) siblings.emplace_back(name_of(row.key));
    if (!section.empty() && std::find(sections.begin(), sections.end(), section) == sections.end()) {
      sections.push_back(section);
    }
  }
  const std::string sibling = nearest(name_of(key), siblings);
  if (!sibling.empty()) return fmt::format("did you mean {}?", sibling);
  // The same name in another section (or in none), then anything that is spelt alike.
  for (const std::string& other : keys) {
    if (name_of(other) == name_of(key)) return fmt::format("did you mean {}?", other);
  }
  if (!siblings.empty() && !section_of(key).empty()) {
    return fmt::format("{} has: {}", section_of(key), fmt::join(siblings, ", "));
  }
  const std::string other = nearest(key, keys);
  if (!other.empty()) return fmt::format("did you mean {}?", other);
  return fmt::format("sections: {}; keys outside sections: {}", fmt::join(sections, ", "), fmt::join(siblings, ", "));
}

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

std::string default_shown(const ParamRow& row) { return row.default_text.empty() ? "empty" : row.default_text; }

}  // namespace

std::string describe_table(const ParamTable& table) {
  std::string out =
      "# Configuration\n"
      "\n"
      "Made by `nudge config keys > docs/reference/configuration.md`; do not edit by hand.\n"
      "\n"
      "A config is a TOML file. Values come from the defaults, the preset, the file and `--set key=value`, in this "
      "order; the last one wins.\n"
      "A quantity is a text with its unit (`\"25 uS\"`, `\"100 ns\"`) or a bare number in SI units. Prefixes are f "
      "p n u m k M G; times may be in min, h, d and temperatures in C.\n"
      "A pure number may be a percentage (`\"5 %\"`). `nudge config check FILE` reports every mistake at once, also "
      "in its data and in the points of its sweep.\n"
      "`nudge config dump FILE` prints every resolved value.\n";
  for (const std::string& section : sections(table)) {
    out += section.empty() ? "\n## Outside sections\n" : fmt::format("\n## [{}]\n", section);
    out += "\n| key | default | values | meaning |\n|---|---|---|---|\n";
    for (const ParamRow& row : table) {
      if (section_of(row.key) != section) continue;
      out += fmt::format("| `{}` | {} | {} | {} |\n", row.key, cell(default_shown(row)), cell(describe_values(row)),
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
      out += fmt::format("{} = {}\n    {}; {}\n", row.key, default_shown(row), describe_values(row), meaning(row));
    }
  }
  return out;
}

}  // namespace nudge
