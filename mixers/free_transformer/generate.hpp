// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mixers/free_transformer/model.hpp"

namespace nudge {

/// Latent indices for `tokens` positions drawn from the prior (uniform); a pure function of its arguments.
std::vector<int> prior_latents(Index tokens, Index bits, std::uint64_t seed, std::uint32_t sequence);

/// The same prior with bits from a sampler: fair coins, logits 0, as far as the sampler is fair.
template <class S>
std::vector<int> prior_latents(Index tokens, Index bits, BitSampler<S>& sampler);

/// Latent indices for a prompt, from the encoder that sees the prompt alone (prefill); the positions after it come from
/// the prior.
template <class S>
std::vector<int> prefill_latents(const FreeTransformerShape& shape, const std::vector<Matrix<S>>& parameters,
                                 const std::vector<int>& prompt, Index tokens, BitSampler<S>& sampler,
                                 std::uint64_t seed, std::uint32_t sequence);

/// Continues a prompt to latents.size() tokens: token t+1 is drawn from softmax(logits_t/temperature), temperature = 0
/// takes the largest. Keys and values of the tokens before are kept: a token costs one row of the model and its attention.
/// Parameters in the order of free_transformer_fields(). UserError for a negative temperature, an
/// empty prompt, or a prompt longer than the latents.
template <class S>
std::vector<int> generate(const FreeTransformerShape& shape, const std::vector<Matrix<S>>& parameters,
                          std::vector<int> prompt, const std::vector<int>& latents, double temperature,
                          std::uint64_t seed, std::uint32_t sequence);

}  // namespace nudge
