// SPDX-License-Identifier: Apache-2.0
#include "mixers/mixer.hpp"

#include <algorithm>

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

template class NamedValues<float>;
template class NamedValues<double>;

}  // namespace nudge
