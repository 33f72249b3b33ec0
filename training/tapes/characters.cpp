// SPDX-License-Identifier: Apache-2.0
#include "training/data/characters.hpp"

#include "training/tapes/token_model.hpp"

namespace nudge {

/// characters: the next character of a text (data.text), windows of model.tokens as in `nudge train`; tests are
/// experiment.test_examples windows evenly spaced over the validation part.
ExperimentTask characters_task() {
  return {"characters",
          "the next character of a text",
          "mixer",
          token_measures(),
          mixer_variants,
          train_steps,
          [](const Config& config, std::uint64_t seed) -> std::unique_ptr<Task> {
            return std::make_unique<CharacterTask>(
                load_dataset(config), static_cast<Index>(config.integer("model.tokens")),
                static_cast<Index>(config.integer("train.batch")), experiment_held_out(config), seed);
          },
          make_token_model<float>,
          make_token_model<double>};
}

}  // namespace nudge
