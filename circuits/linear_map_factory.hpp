// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "circuits/crossbar/crossbar.hpp"
#include "devices/registry.hpp"

namespace nudge {

/// Makes the map of a weight matrix as the spec says. DigitalMatrix for device.model = "digital", otherwise a Crossbar of that device,
/// or the arrays of an update rule (RuledMap). One per token where spec.tokens says replicated (ReplicatedMap), and behind leaking holds
/// where it says multiplexed (HeldMap). `id` numbers the array within the model; `seed` is the seed of the run. UserError as Crossbar.
template <class S>
std::unique_ptr<LinearMap<S>> make_linear_map(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id,
                                              std::uint64_t seed);

/// Checks a spec without building anything; accepts "digital".
void validate_linear_map(const CrossbarSpec& spec);

}  // namespace nudge
