// SPDX-License-Identifier: Apache-2.0
#include "mixers/mixer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

Index Field::rows() const {
  Index rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  return rows;
}

template <class S>
bool NamedValues<S>::has(const std::string& name) const {
  return std::any_of(values_.begin(), values_.end(), [&](const auto& each) { return each.first == name; });
}

template <class S>
Value<S> NamedValues<S>::operator[](const std::string& name) const {
  for (const auto& [each, value] : values_) {
    if (each == name) return value;
  }
  throw ContractViolation("a mixer asked for the unknown value " + name);
}

NUDGE_BOTH_PRECISIONS_OF(NamedValues)

MixerKeys rope_key(const MixerOptions& made) {
  if (made.rope) return {};
  return {
      {param::flag("mixer.rope", "false",
                   "Rotary positions, for an even head width: mha, *_stack, mha2nd*, light2nd*, fem_softmax (fem_gla "
                   "always)."),
       [](const Config& c, MixerOptions& o) { o.rope = c.flag("mixer.rope"); }}};
}

void require_positive(const std::string& name, double value) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw UserError(fmt::format("{} = {} (must be a positive finite number)", name, value));
  }
}

void require_at_least(const std::string& name, Index value, Index least) {
  if (value < least) throw UserError(fmt::format("{} = {} (must be at least {})", name, value, least));
}

void require_divides(const std::string& part_name, Index part, const std::string& whole_name, Index whole) {
  require_at_least(part_name, part, 1);
  if (whole % part != 0) {
    throw UserError(fmt::format("{} = {} (must divide {} = {})", part_name, part, whole_name, whole));
  }
}

}  // namespace nudge
