// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/config/param_table.hpp"
#include "sim/config/toml_reader.hpp"

namespace nudge {

/// Places of a value and of the first one that it repeats.
struct Repeat {
  std::size_t first, again;
};

/// Finds the first value of a list that stands before it already, by the order <. Nothing: every value stands once. A study lists
/// each run once: the same run twice is no second, independent one.
template <class T>
std::optional<Repeat> first_repeat(const std::vector<T>& values) {
  std::map<T, std::size_t> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [at, is_new] = seen.emplace(values[i], i);
    if (!is_new) return Repeat{at->second, i};
  }
  return std::nullopt;
}

/// One axis of a grid: a key of the table and its values, as Config::set_from_text takes them.
struct GridAxis {
  std::string key;
  std::vector<std::string> values;
  bool operator==(const GridAxis&) const = default;
};

/// The value of a key: numbers in SI units; text, path and choice are strings.
using ParamValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>, std::vector<double>,
                                std::vector<std::string>, std::vector<GridAxis>>;

/// Mistake in a value, or in one element ("[2]", from 0) of a list.
struct ValueProblem {
  std::string element;
  std::string shown;
  TextPosition at;
  std::string rule;
};

/// Error text for a value that stands twice in a list whose entries are run.
std::string repeat_rule(const Repeat& repeat);

/// Converts a written value to the row's kind (not for grids); adds a problem for each rule broken.
std::optional<ParamValue> convert(const ParamRow& row, const RawValue& raw, std::vector<ValueProblem>& problems);

/// Makes the axis of `key = [values]` under a grid row. `key` is a key of the table from another section than the grid.
std::optional<GridAxis> convert_axis(const ParamTable& table, const ParamRow& grid, const std::string& key,
                                     const RawValue& raw, std::vector<ValueProblem>& problems);

/// Text after `--set key=`, or of a sweep, as the kind of the row reads it: 3, 25 uS, abc, [1, 2] or 1,2.
RawValue raw_from_text(const ParamRow& row, std::string_view text);

/// A text that raw_from_text and convert turn back into the same value.
std::string to_text(const ParamRow& row, const ParamValue& value);

/// Value as TOML (not for grids).
std::string to_toml(const ParamRow& row, const ParamValue& value);

/// "[0.0, 0.01]": the values of an axis as a TOML list.
std::string axis_to_toml(const ParamTable& table, const GridAxis& axis);

}  // namespace nudge
