// SPDX-License-Identifier: Apache-2.0
#include "sim/config/toml_reader.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

TextPosition position(const toml::source_region& source) { return {source.begin.line, source.begin.column}; }

RawValue raw_value(const toml::node& node) {
  RawValue value;
  value.at = position(node.source());
  if (const auto* integer = node.as_integer()) {
    value.kind = RawValue::Kind::integer;
    value.integer = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    value.kind = RawValue::Kind::real;
    value.real = real->get();
  } else if (const auto* flag = node.as_boolean()) {
    value.kind = RawValue::Kind::flag;
    value.flag = flag->get();
  } else if (const auto* text = node.as_string()) {
    value.kind = RawValue::Kind::text;
    value.text = text->get();
  } else if (const auto* list = node.as_array()) {
    value.kind = RawValue::Kind::list;
    for (const toml::node& element : *list) value.list.push_back(raw_value(element));
  } else if (node.is_table()) {
    value.kind = RawValue::Kind::table;
  } else {
    std::ostringstream out;
    node.visit([&](const auto& concrete) { out << concrete; });
    value.text = out.str();
  }
  return value;
}

void flatten(const toml::table& table, const std::string& prefix, std::vector<RawEntry>& entries) {
  for (const auto& [key, node] : table) {
    const std::string dotted = prefix + std::string(key.str());
    const toml::table* inner = node.as_table();
    if (inner != nullptr && !inner->empty()) {
      flatten(*inner, dotted + ".", entries);
    } else {
      entries.push_back({dotted, position(key.source()), raw_value(node)});
    }
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(code));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string show(const RawValue& value) {
  switch (value.kind) {
    case RawValue::Kind::integer: return fmt::format("{}", value.integer);
    case RawValue::Kind::real: return format_quantity(value.real, Unit::none);
    case RawValue::Kind::flag: return value.flag ? "true" : "false";
    case RawValue::Kind::text: return nudge::quoted(value.text);
    case RawValue::Kind::table: return "a table";
    case RawValue::Kind::other: return value.text;
    case RawValue::Kind::list: break;
  }
  std::vector<std::string> parts;
  for (const RawValue& element : value.list) parts.push_back(show(element));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

namespace {

/// What stands before the `=` that ends at this place: toml++ 3.3 garbles quoted keys in its message on a key that is there
/// twice ("bebeta"). Empty where there is none.
std::string key_before(const std::string& text, const TextPosition& at) {
  std::istringstream in(text);
  std::string line;
  for (unsigned n = 0; n < at.line; ++n) std::getline(in, line);
  line.resize(std::min<std::size_t>(line.size(), at.column > 0 ? at.column - 1 : 0));
  const std::size_t equals = line.rfind('=');
  if (equals == std::string::npos) return "";
  const std::size_t open = line.find_last_of("{,", equals);
  const std::size_t begin = line.find_first_not_of(" \t", open == std::string::npos ? 0 : open + 1);
  const std::size_t end = line.find_last_not_of(" \t=", equals);
  return begin < equals && end != std::string::npos && end >= begin ? line.substr(begin, end - begin + 1) : "";
}

}  // namespace

std::vector<RawEntry> read_toml(const std::string& text, const std::string& name) {
  std::vector<RawEntry> entries;
  try {
    flatten(toml::parse(text, name), "", entries);
  } catch (const toml::parse_error& error) {
    const TextPosition at = position(error.source());
    std::string problem(error.description());
    const std::string key = problem.find("redefine existing") == std::string::npos ? "" : key_before(text, at);
    if (!key.empty()) problem = key + " is set twice (remove one of the two)";
    throw UserError(fmt::format("{}:{}:{}: {}", name, at.line, at.column, problem));
  }
  // toml++ sorts keys by name; people read them in the order of the file.
  std::stable_sort(entries.begin(), entries.end(), [](const RawEntry& a, const RawEntry& b) {
    return a.at.line != b.at.line ? a.at.line < b.at.line : a.at.column < b.at.column;
  });
  return entries;
}

std::optional<std::string> read_toml_string(std::string_view quoted_text) {
  toml::table table;
  try {
    table = toml::parse("x = " + std::string(quoted_text));
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
  return table.size() == 1 ? table["x"].value<std::string>() : std::nullopt;
}

}  // namespace nudge
