// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "mixers/mixer.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/reads.hpp"

namespace nudge {

/// Number of taps of the short causal convolutions that the recurrent baselines have behind their projections.
inline constexpr Index kShortTaps = 4;

/// Field of weights W (inputs, outputs), used as x W; training starts at deviation 1/√inputs.
inline Field dense(const std::string& name, Index inputs, Index outputs) {
  return {name, {inputs, outputs}, 0, 1.0 / std::sqrt(static_cast<double>(inputs))};
}
/// Field of filter taps (K, channels); training starts at deviation 1/√K.
inline Field taps(const std::string& name, Index count, Index channels) {
  return {name, {count, channels}, 0, 1.0 / std::sqrt(static_cast<double>(count))};
}
/// Spec of a causal update of `width` channels from the state of as many, by parameters of its own.
inline MixerSpec causal_update(Index width, std::vector<Field> parameters) {
  return {.inputs = {{"z", {-1, width}}},
          .parameters = std::move(parameters),
          .outputs = {{"y", {-1, width}}},
          .attends = false,
          .only_causal = true};
}

/// Projected and convolved input, silu(conv(x W)).
template <class S>
Value<S> convolved(const MixerCall<S>& call, Value<S> x, const std::string& weights, const std::string& filter) {
  const Value<S> projected = product(x, call.parameters[weights]);
  return apply(Function::silu, causal_convolution(projected, call.parameters[filter]));
}

}  // namespace nudge
