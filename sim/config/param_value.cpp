// SPDX-License-Identifier: Apache-2.0
#include "sim/config/param_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

using Raw = RawValue::Kind;

/// The kind of the elements of a list; the kind itself for anything else.
ParamKind element_kind(ParamKind kind) {
  switch (kind) {
    case ParamKind::integers: return ParamKind::integer;
    case ParamKind::reals: return ParamKind::real;
    case ParamKind::texts: return ParamKind::text;
    default: return kind;
  }
}

bool is_list(ParamKind kind) { return element_kind(kind) != kind; }

/// Whether one text may be written for a list of one: where the default is such a text, "auto".
bool stands_alone(const ParamRow& row) {
  return row.kind == ParamKind::texts && !row.default_text.empty() && row.default_text.find(',') == std::string::npos;
}

/// Value of one scalar, or the rule it breaks.
struct Scalar {
  ParamValue value;
  std::string rule;
};

/// What to write where a number cannot be: ", or auto".
std::string or_word(const ParamRow& row) { return row.zero.empty() ? "" : ", or " + row.zero; }

/// The number that the word of a row stands for.
double worded_number(const ParamRow& row) {
  const double least = row.range.minimum;
  return std::isfinite(least) && least < 0 ? least : 0;
}

Scalar in_range(const ParamRow& row, ParamValue value, double number) {
  if (!std::isfinite(number)) return {value, "must be a finite number"};
  Range range = row.range;
  if (!row.zero.empty() && worded_number(row) < 0) range.minimum = 0;  // what lies below is written by its word
  if (!contains(range, number)) {
    std::string rule = "must be " + describe(range, row.unit) + or_word(row);
    const bool percent = element_kind(row.kind) == ParamKind::real && row.unit == Unit::none && range.maximum == 1;
    if (percent && number > 1 && number <= 100) rule += fmt::format("; did you mean \"{:g} %\"?", number);
    return {value, rule};
  }
  return {value, {}};
}

bool is_zero_word(const ParamRow& row, const RawValue& raw) {
  return raw.kind == Raw::text && !row.zero.empty() && raw.text == row.zero;
}

Scalar integer_scalar(const ParamRow& row, const RawValue& raw) {
  if (is_zero_word(row, raw)) return {static_cast<std::int64_t>(worded_number(row)), {}};
  if (raw.kind != Raw::integer) {
    return {{}, "must be a whole number, without point, exponent or quotes" + or_word(row)};
  }
  return in_range(row, raw.integer, static_cast<double>(raw.integer));
}

Scalar real_scalar(const ParamRow& row, const RawValue& raw) {
  if (is_zero_word(row, raw)) return {worded_number(row), {}};
  if (raw.kind == Raw::integer)
    return in_range(row, static_cast<double>(raw.integer), static_cast<double>(raw.integer));
  if (raw.kind == Raw::real) return in_range(row, raw.real, raw.real);
  if (raw.kind != Raw::text) {
    return {{},
            (row.unit == Unit::none ? "must be a number" : "must be a number, or a text with its unit") + or_word(row)};
  }
  const Quantity quantity = read_quantity(raw.text, row.unit);
  if (!quantity.problem.empty()) return {{}, quantity.problem + or_word(row)};
  return in_range(row, quantity.value, quantity.value);
}

Scalar text_scalar(const ParamRow& row, const RawValue& raw) {
  if (raw.kind != Raw::text) return {{}, "must be a text in quotes"};
  const bool known =
      row.choices.empty() || std::find(row.choices.begin(), row.choices.end(), raw.text) != row.choices.end();
  if (known) return {raw.text, {}};
  const std::string best = nearest(raw.text, row.choices);
  const std::string rule = "must be " + describe_values(row);
  return {{}, best.empty() ? rule : fmt::format("{}; did you mean {}?", rule, best)};
}

Scalar scalar(const ParamRow& row, const RawValue& raw) {
  switch (element_kind(row.kind)) {
    case ParamKind::integer: return integer_scalar(row, raw);
    case ParamKind::real: return real_scalar(row, raw);
    case ParamKind::flag:
      if (raw.kind != Raw::flag) return {{}, "must be true or false, without quotes"};
      return {raw.flag, {}};
    default: return text_scalar(row, raw);
  }
}

template <class T>
std::optional<ParamValue> convert_list(const ParamRow& row, const RawValue& raw, std::vector<ValueProblem>& problems) {
  std::vector<T> values;
  const std::size_t before = problems.size();
  for (std::size_t i = 0; i < raw.list.size(); ++i) {
    Scalar element = scalar(row, raw.list[i]);
    if (!element.rule.empty()) {
      problems.push_back({fmt::format("[{}]", i), show(raw.list[i]), raw.list[i].at, element.rule});
    } else {
      values.push_back(std::get<T>(element.value));
    }
  }
  if (const auto repeat = row.distinct && problems.size() == before ? first_repeat(values) : std::nullopt) {
    const RawValue& again = raw.list[repeat->again];
    problems.push_back({fmt::format("[{}]", repeat->again), show(again), again.at, repeat_rule(*repeat)});
  }
  if (problems.size() > before) return std::nullopt;
  return values;
}

RawValue number_from_text(std::string_view text) {
  RawValue raw;
  raw.kind = Raw::text;
  raw.text = std::string(text);
  const char* begin = raw.text.data();
  const char* end = begin + raw.text.size();
  if (const auto r = std::from_chars(begin, end, raw.integer); r.ec == std::errc() && r.ptr == end) {
    raw.kind = Raw::integer;
  } else if (const auto q = std::from_chars(begin, end, raw.real); q.ec == std::errc() && q.ptr == end) {
    raw.kind = Raw::real;
  }
  return raw;
}

RawValue scalar_from_text(ParamKind kind, std::string_view text) {
  if (kind == ParamKind::integer || kind == ParamKind::real) return number_from_text(text);
  RawValue raw;
  if (kind == ParamKind::flag && (text == "true" || text == "false")) {
    raw.kind = Raw::flag;
    raw.flag = text == "true";
    return raw;
  }
  raw.kind = Raw::text;
  raw.text = std::string(text);
  const bool in_quotes =
      text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  if (in_quotes) raw.text = read_toml_string(text).value_or(raw.text);
  return raw;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The elements of [a, "b, c", d] or of a, "b, c", d.
std::vector<std::string_view> split_list(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = trim(text.substr(1, text.size() - 2));
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  std::size_t start = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == ',') {
      parts.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  parts.push_back(trim(text.substr(start)));
  return parts;
}

/// Whether the value is the one that has a word.
bool is_worded(const ParamRow& row, const ParamValue& value) {
  if (row.zero.empty()) return false;
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return static_cast<double>(*integer) == worded_number(row);
  if (const auto* real = std::get_if<double>(&value)) return *real == worded_number(row);
  return false;
}

std::string number_to_toml(double value, Unit unit) {
  const std::string text = format_quantity(value, unit);
  if (unit != Unit::none) return nudge::quoted(text);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string repeat_rule(const Repeat& repeat) {
  return fmt::format("is [{}] again. List each once: a repeated run is not independent", repeat.first);
}

std::optional<ParamValue> convert(const ParamRow& row, const RawValue& raw, std::vector<ValueProblem>& problems) {
  if (is_list(row.kind)) {
    if (raw.kind == Raw::text && stands_alone(row)) {
      RawValue one;
      one.kind = Raw::list;
      one.at = raw.at;
      one.list.push_back(raw);
      return convert(row, one, problems);
    }
    if (raw.kind != Raw::list) {
      problems.push_back({"", show(raw), raw.at, "must be a list, like [a, b]"});
      return std::nullopt;
    }
    if (row.kind == ParamKind::integers) return convert_list<std::int64_t>(row, raw, problems);
    if (row.kind == ParamKind::reals) return convert_list<double>(row, raw, problems);
    return convert_list<std::string>(row, raw, problems);
  }
  Scalar result = scalar(row, raw);
  if (result.rule.empty()) return result.value;
  problems.push_back({"", show(raw), raw.at, result.rule});
  return std::nullopt;
}

std::optional<GridAxis> convert_axis(const ParamTable& table, const ParamRow& grid, const std::string& key,
                                     const RawValue& raw, std::vector<ValueProblem>& problems) {
  const std::size_t before = problems.size();
  const ParamRow* row = find_row(table, key);
  GridAxis axis{key, {}};
  if (row == nullptr) {
    problems.push_back({"", show(raw), raw.at, fmt::format("unknown key {}; {}", key, key_hint(table, key))});
  } else if (section_of(key) == section_of(grid.key) || row->kind == ParamKind::grid) {
    problems.push_back({"", show(raw), raw.at, fmt::format("{} cannot be swept", key)});
  } else if (raw.kind != Raw::list || raw.list.empty()) {
    problems.push_back({"", show(raw), raw.at, "must be a list of at least one value, like [a, b]"});
  } else {
    for (std::size_t i = 0; i < raw.list.size(); ++i) {
      const std::size_t first = problems.size();
      if (const auto value = convert(*row, raw.list[i], problems)) axis.values.push_back(to_text(*row, *value));
      for (std::size_t j = first; j < problems.size(); ++j) {
        problems[j].element = fmt::format("[{}]{}", i, problems[j].element);
      }
    }
  }
  return problems.size() == before ? std::optional<GridAxis>(axis) : std::nullopt;
}

RawValue raw_from_text(const ParamRow& row, std::string_view text) {
  const ParamKind kind = element_kind(row.kind);
  const auto element = [kind](std::string_view part) {
    // Quotes around a quantity or a word are TOML's, not part of it. A whole number has none.
    const std::optional<std::string> inside =
        kind == ParamKind::real || kind == ParamKind::integer ? read_toml_string(part) : std::nullopt;
    if (inside && kind == ParamKind::integer) return scalar_from_text(ParamKind::text, part);
    return scalar_from_text(kind, inside ? std::string_view(*inside) : part);
  };
  if (!is_list(row.kind)) return element(text);
  RawValue raw;
  raw.kind = Raw::list;
  for (const std::string_view part : split_list(text)) raw.list.push_back(element(part));
  return raw;
}

std::string to_toml(const ParamRow& row, const ParamValue& value) {
  if (is_worded(row, value)) return nudge::quoted(row.zero);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return number_to_toml(*real, row.unit);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return nudge::quoted(*text);
  std::vector<std::string> parts;
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t element : *integers) parts.push_back(fmt::format("{}", element));
  } else if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    for (const double element : *reals) parts.push_back(number_to_toml(element, row.unit));
  } else {
    for (const std::string& element : std::get<std::vector<std::string>>(value))
      parts.push_back(nudge::quoted(element));
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string axis_to_toml(const ParamTable& table, const GridAxis& axis) {
  std::vector<std::string> parts;
  const ParamRow& row = *find_row(table, axis.key);
  std::vector<ValueProblem> none;
  parts.reserve(axis.values.size());
  for (const std::string& text : axis.values)
    parts.push_back(to_toml(row, *convert(row, raw_from_text(row, text), none)));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string to_text(const ParamRow& row, const ParamValue& value) {
  if (is_worded(row, value)) return row.zero;
  if (const auto* real = std::get_if<double>(&value)) return format_quantity(*real, row.unit);
  if (const auto* text = std::get_if<std::string>(&value)) {
    const bool looks_quoted = !text->empty() && (text->front() == '"' || text->front() == '\'');
    return looks_quoted ? nudge::quoted(*text) : *text;
  }
  return to_toml(row, value);
}

}  // namespace nudge
