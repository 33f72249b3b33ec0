// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/member.hpp"
#include "sim/config/config.hpp"
#include "sim/config/reading.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {

/// A key of the config and the field of a struct of options T that takes its value.
template <class T>
struct OptionField {
  ParamRow row;
  std::function<void(const Config& config, T& options)> read;
  Member<T> member;
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
  return {std::move(row),
          [key = std::move(key), first, path...](const Config& config, T& options) {
            detail::read_value(config, key, ((options.*first).*....*path));
          },
          Member<T>(first, path...)};
}

/// An enumeration, or whatever else the names of a list stand for. The choices of the row are those names.
template <class E, class T, class M, class... Path>
OptionField<T> field(ParamRow row, const Choices<E>& names, M T::*first, Path... path) {
  row.choices = names.names();
  std::string key = row.key;
  return {std::move(row),
          [key = std::move(key), names, first, path...](const Config& config, T& options) {
            ((options.*first).*....*path) = names.of(config, key);
          },
          Member<T>(first, path...)};
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
    fill(config, options);
    return options;
  }

  void fill(const Config& config, T& options) const {
    for (const OptionField<T>& field : fields_) field.read(config, options);
  }

  /// Takes over the fields whose keys are not at their defaults.
  void take_changed(const Config& config, T& options) const {
    for (const OptionField<T>& field : fields_) {
      if (!config.at_default(field.row.key)) field.read(config, options);
    }
  }

  ParamTable rows() const {
    return rows_where([](const OptionField<T>&) { return true; });
  }

  /// The keys that fill these members; those that fill none of them.
  ParamTable rows_of(const std::vector<Member<T>>& members) const {
    return rows_where([&](const OptionField<T>& field) { return is_in(members, field); });
  }
  ParamTable rows_without(const std::vector<Member<T>>& members) const {
    return rows_where([&](const OptionField<T>& field) { return !is_in(members, field); });
  }

  /// The keys that fill these members are read only where the condition holds.
  Section& where(const Condition& condition, const std::vector<Member<T>>& members) {
    for (OptionField<T>& field : fields_) {
      if (is_in(members, field)) field.row = read_with(condition, std::move(field.row));
    }
    return *this;
  }

  const std::vector<OptionField<T>>& fields() const { return fields_; }

  /// The keys of a struct that is a part of T, found by the path of members that leads there; behind the own ones.
  template <class Part, class... Path>
  Section& add(const Section<Part>& part, Path... path) {
    for (const OptionField<Part>& field : part.fields()) {
      fields_.push_back(
          {field.row,
           [read = field.read, path...](const Config& config, T& options) { read(config, (options.*....*path)); },
           field.member.template within<T>(path...)});
    }
    return *this;
  }

 private:
  static bool is_in(const std::vector<Member<T>>& members, const OptionField<T>& field) {
    return std::any_of(members.begin(), members.end(), [&](const Member<T>& m) { return m.holds(field.member); });
  }

  template <class Taken>
  ParamTable rows_where(const Taken& taken) const {
    ParamTable table;
    for (const OptionField<T>& field : fields_) {
      if (taken(field)) table.push_back(field.row);
    }
    return table;
  }

  std::vector<OptionField<T>> fields_;
};

}  // namespace nudge
