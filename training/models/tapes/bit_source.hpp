// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mixers/bit_sampler.hpp"
#include "training/models/tapes/tape_kinds.hpp"

namespace nudge {

/// Names that latent.sampler may take.
const std::vector<std::string>& bit_source_names();

/// The source of latent bits that latent.sampler names. One per tape: a source may have a state.
template <class S>
std::shared_ptr<BitSampler<S>> make_bit_source(const LatentOptions& options, std::uint64_t seed);

}  // namespace nudge
