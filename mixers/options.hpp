// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <functional>
#include <map>
#include <typeindex>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// Options that a mixer is made with: the common ones, and a struct of its family. The struct stands in the file of the family and is
/// at its defaults until somebody sets it.
class MixerOptions {
 public:
  Index width = 8;  ///< channels of the state
  Index heads = 2;
  bool rope = false;     ///< rotary positions, of kinds that say so
  int iterations = 5;    ///< of loop_*, and of mixers that are watched for so long
  bool observe = false;  ///< record quantities to log

  template <class T>
  T& of() {
    std::any& held = families_[typeid(T)];
    if (!held.has_value()) held = T{};
    return *std::any_cast<T>(&held);
  }
  template <class T>
  const T& of() const {
    static const T standard{};
    const auto held = families_.find(typeid(T));
    return held == families_.end() ? standard : *std::any_cast<T>(&held->second);
  }

 private:
  std::map<std::type_index, std::any> families_;
};

/// A key of [mixer], and how it is taken.
struct MixerKey {
  ParamRow row;
  std::function<void(const Config& config, MixerOptions& options)> read;
};
using MixerKeys = std::vector<MixerKey>;

inline MixerKeys operator+(MixerKeys keys, const MixerKeys& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

/// The keys that fill these members of a family.
template <class T>
MixerKeys keys_of(const Section<T>& section, const std::vector<Member<T>>& members) {
  const ParamTable rows = section.rows_of(members);
  MixerKeys keys;
  for (const OptionField<T>& field : section.fields()) {
    if (find_row(rows, field.row.key) == nullptr) continue;
    keys.push_back({field.row, [read = field.read](const Config& c, MixerOptions& o) { read(c, o.of<T>()); }});
  }
  return keys;
}

}  // namespace nudge
