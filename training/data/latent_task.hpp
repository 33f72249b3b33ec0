// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/data/generated_task.hpp"

namespace nudge {

/// latent: the next token of the Free Transformer's synthetic sequences (SyntheticText): a letter's prompt and a body with a target at a
/// hidden place, and noise.
std::unique_ptr<Task> latent_task(const Config& config);

/// UserError where model.tokens is not the length of its sequences.
void check_latent_task(const Config& config);

}  // namespace nudge
