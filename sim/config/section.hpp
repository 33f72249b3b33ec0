// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/config/choices.hpp"
#include "sim/config/config.hpp"

namespace nudge {

/// A key of the config and the field of a struct of options T that takes its value.
template <class T>
struct OptionField {
  ParamRow row;
  std::function<void(const Config& config, T& options)> read;
};

namespace detail {

/// The value of a key as the type of its field.
template <class V>
void read_value(const Config& config, const std::string& key, V& value) {
  if constexpr (std::is_same_v<V, bool>) {
    value = config.flag(key);
  } else if constexpr (std::is_integral_v<V>) {
    value = static_cast<V>(config.integer(key));
  } else if constexpr (std::is_floating_point_v<V>) {
    value = config.real(key);
  } else if constexpr (std::is_same_v<V, std::string>) {
    value = config.text(key);
  } else if constexpr (std::is_same_v<V, std::vector<std::string>>) {
    value = config.texts(key);
  } else if constexpr (std::is_same_v<V, std::vector<double>>) {
    value = config.reals(key);
  } else if constexpr (std::is_same_v<V, std::vector<GridAxis>>) {
    value = config.grid(key);
  } else {
    value.assign(config.integers(key).begin(), config.integers(key).end());
  }
}

}  // namespace detail

/// The field at the end of a path of members: field(row, &CrossbarSpec::wires, &WireSpec::row_ohm).
template <class T, class M, class... Path>
OptionField<T> field(ParamRow row, M T::*first, Path... path) {
  std::string key = row.key;
  return {std::move(row), [key = std::move(key), first, path...](const Config& config, T& options) {
            detail::read_value(config, key, ((options.*first).*....*path));
          }};
}

/// An enumeration, or whatever else the names of a list stand for. The choices of the row are those names.
template <class E, class T, class M, class... Path>
OptionField<T> field(ParamRow row, const Choices<E>& names, M T::*first, Path... path) {
  row.choices = names.names();
  std::string key = row.key;
  return {std::move(row), [key = std::move(key), names, first, path...](const Config& config, T& options) {
            ((options.*first).*....*path) = names.of(config, key);
          }};
}

/// The keys that fill a struct of options: their rows drive parsing, checks, help and docs, and read() fills the struct. So a key is
/// named once, and what uses an option knows a field and no key. The default stands in the row alone: a struct that only a section
/// fills has none of its own.
template <class T>
class Section {
 public:
  Section(std::initializer_list<OptionField<T>> fields) : fields_(fields) {}

  T read(const Config& config) const {
    T options;
    for (const OptionField<T>& field : fields_) field.read(config, options);
    return options;
  }

  /// Those fields whose keys are not at their defaults.
  void take_changed(const Config& config, T& options) const {
    for (const OptionField<T>& field : fields_) {
      if (!config.at_default(field.row.key)) field.read(config, options);
    }
  }

  ParamTable rows() const {
    ParamTable table;
    table.reserve(fields_.size());
    for (const OptionField<T>& field : fields_) table.push_back(field.row);
    return table;
  }

  const std::vector<OptionField<T>>& fields() const { return fields_; }

  /// The keys of a struct that is a part of T, found by the path of members that leads there; behind the own ones.
  template <class Part, class... Path>
  Section& add(const Section<Part>& part, Path... path) {
    for (const OptionField<Part>& field : part.fields()) {
      fields_.push_back({field.row, [read = field.read, path...](const Config& config, T& options) {
                           read(config, (options.*....*path));
                         }});
    }
    return *this;
  }

 private:
  std::vector<OptionField<T>> fields_;
};

}  // namespace nudge
