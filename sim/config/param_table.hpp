// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace nudge {

/// Kind of a key's value. `texts` may be restricted to choices. `grid` is a free table [name], the axes of a sweep. Its
/// names are keys of the table; its values are lists of values of those keys.
enum class ParamKind { integer, real, flag, text, path, choice, integers, reals, texts, grid };

/// Allowed numbers, in SI units; an open end is excluded.
struct Range {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool open_minimum = false;
  bool open_maximum = false;
  bool or_zero = false;  ///< 0 is allowed beside them: what switches the thing off
};

constexpr double no_limit = std::numeric_limits<double>::infinity();
constexpr Range any_number() { return {}; }
constexpr Range at_least(double minimum) { return {minimum, no_limit, false, false}; }
constexpr Range above(double minimum) { return {minimum, no_limit, true, false}; }
constexpr Range between(double minimum, double maximum) { return {minimum, maximum, false, false}; }
/// (minimum, maximum]
constexpr Range above_up_to(double minimum, double maximum) { return {minimum, maximum, true, false}; }
/// [minimum, maximum)
constexpr Range from_below(double minimum, double maximum) { return {minimum, maximum, false, true}; }
/// 0 or [minimum, maximum]
constexpr Range zero_or_between(double minimum, double maximum) { return {minimum, maximum, false, false, true}; }
/// (minimum, maximum)
constexpr Range strictly_between(double minimum, double maximum) { return {minimum, maximum, true, true}; }

bool contains(const Range& range, double value);

/// ">= 1", "in [0, 1)", "> 0 S"; empty when every number is allowed.
std::string describe(const Range& range, Unit unit);

class Config;

/// Fate of a key that is set and that a condition leaves unread.
enum class Unread : unsigned char {
  refused,         ///< but where it stands before the choice, or a preset set it
  refused_always,  ///< wherever it was set: it would act, and mean nothing
  warned,          ///< it counts as read: another command reads it (idle_keys())
};

/// Condition under which a key is read: the value of another key.
struct Condition {
  std::string key;
  std::function<bool(const Config& config)> holds;
  std::string needs;  ///< with what value it holds: "adam", "a value above 0"
  Unread unread = Unread::refused;
};
using Conditions = std::vector<std::shared_ptr<const Condition>>;

/// One key of the configuration. This row alone drives parsing, checks, help and the pages docs/reference/config/.
struct ParamRow {
  std::string key;  ///< "relaxation.step": the section is what stands before the last dot
  ParamKind kind = ParamKind::text;
  std::string default_text;  ///< as one would write it after --set
  std::string doc;           ///< one or two sentences, with the symbol of the papers
  std::string source = {};   ///< citation, measurement or derivation of the default
  Unit unit = Unit::none;
  Range range = {};
  std::vector<std::string> choices = {};
  std::vector<std::string> former = {};  ///< names that the key had: who writes one is told the new one
  bool distinct = false;                 ///< a list in which no value stands twice: each is run
  std::string zero = {};  ///< word for the number 0, or for the least of a range from below 0: "off", "auto", "seed"
  /// The key is read where all conditions of one of these hold; empty: always (sim/config/reading.hpp).
  std::vector<Conditions> read_when = {};
};

using ParamTable = std::vector<ParamRow>;

/// Shorthand for rows of each kind.
namespace param {
ParamRow integer(std::string key, std::string value, Range range, std::string doc, std::string source = {});
ParamRow real(std::string key, std::string value, Range range, std::string doc, std::string source = {});
ParamRow quantity(std::string key, std::string value, Unit unit, Range range, std::string doc, std::string source = {});
ParamRow flag(std::string key, std::string value, std::string doc, std::string source = {});
ParamRow text(std::string key, std::string value, std::string doc, std::string source = {});
ParamRow path(std::string key, std::string value, std::string doc, std::string source = {});
ParamRow choice(std::string key, std::string value, std::vector<std::string> choices, std::string doc,
                std::string source = {});
/// A choice whose values are the names of the list that its field is bound with (sim/config/section.hpp).
ParamRow named(std::string key, std::string value, std::string doc, std::string source = {});
ParamRow integers(std::string key, std::string value, Range range, std::string doc, std::string source = {});
ParamRow reals(std::string key, std::string value, Range range, std::string doc, std::string source = {});
ParamRow texts(std::string key, std::string value, std::vector<std::string> choices, std::string doc,
               std::string source = {});
ParamRow grid(std::string key, std::string doc, std::string source = {});
/// The row of a list in which no value stands twice, in whatever spelling.
ParamRow distinct(ParamRow row);
/// The row of a number whose 0 (or least, if < 0) is a decision, said by this word. 0 is still read, as older configs have it.
ParamRow zero_is(std::string word, ParamRow row);
/// The row of a key that had other names: who writes one of them is told the new one.
ParamRow formerly(std::vector<std::string> names, ParamRow row);
}  // namespace param

/// The row of a key, or nullptr.
const ParamRow* find_row(const ParamTable& table, std::string_view key);

/// "relaxation" of "relaxation.step"; empty for a key outside every section.
std::string_view section_of(std::string_view key);

/// "step" of "relaxation.step".
std::string_view name_of(std::string_view key);

/// Values that the row accepts, in words: "integer >= 1", "one of a, b", "quantity in s > 0 s".
std::string describe_values(const ParamRow& row);

/// Hint for an unknown key: "did you mean abs_tolerance?" (same section), "did you mean train.steps?", or the keys that
/// exist.
std::string key_hint(const ParamTable& table, std::string_view key);

/// All keys as Markdown, one table per section: `nudge config keys`, from which docs/reference/config/ is made.
std::string describe_table(const ParamTable& table);

/// All keys as text for a terminal: key, default, values and meaning.
std::string help_text(const ParamTable& table);

}  // namespace nudge
