// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace nudge {

struct GenerateOptions {
  /// Prompt, UTF-8; empty: a line feed, or the first character of the vocabulary where there is none.
  std::string prompt = {};
  int tokens = 200;  ///< characters to add  [1 to 2²⁰ − 1]
  /// Temperature of the softmax that characters are drawn from; 0: the most probable one [≥ 0].
  double temperature = 1;
  std::uint64_t seed = 1;  ///< seed of the draws, and of the noise of reads [≤ 4095]
  bool prefill = false;    ///< Free Transformer: take the latents of the prompt from its encoder, not from the prior
};

struct Generated {
  std::string prompt, text;            ///< text that was given, and text that was added
  double negative_log_likelihood = 0;  ///< mean of the added characters under the network at temperature 1, nat
};

/// Continues a text with the network of a run file of `nudge train` (task.kind = characters), on its devices as they
/// are in the file, with the noise of their reads. The last model.tokens characters settle, and the next is drawn from
/// the read-out of the last one,
///     p ∝ exp(logit/temperature).
/// A Free Transformer reads a latent for each character, from the prior (fair coins of latent.sampler); its likelihood
/// is conditional on the latents. Attention looks back only, so the padding behind a short text does not matter. Calls
/// tell(character) for each new character; false ends the text. UserError for files and prompts that do not fit;
/// NumericalFailure where the network does not settle to finite numbers.
Generated generate(const std::filesystem::path& run, const GenerateOptions& options,
                   const std::function<bool(const std::string&)>& tell = {});

}  // namespace nudge
