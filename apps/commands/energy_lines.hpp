// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/train/train_run.hpp"

namespace nudge {

/// "32 tokens in turn", "T = 32 replicas", "32 tokens at once: an idealisation".
std::string tokens_text(const TrainSummary& summary);

/// Two lines: what a step takes, item by item, and what is not counted, with the key that counts it and how large it
/// would be at a round figure (1 pJ a conversion or operation, 1 uW an amplifier, 0.1 fF a cell).
std::string energy_lines(const StepEnergy& energy);

}  // namespace nudge
