// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/models/node_leak.hpp"
#include "training/models/transformer/transformer_plan.hpp"

namespace nudge {

/// The section [transformer]. C, T, M, H and the vocabulary of the shape are those of [model] and of the task.
struct TransformerOptions {
  TransformerShape shape;
  TransformerScales scales;
};
const Section<TransformerOptions>& transformer_section();

/// The transformer of [transformer], with C, T, M and H of [model].
std::shared_ptr<const NetworkPlan> transformer_plan(const Config& config, const TaskSizes& task);

/// The mixer of transformer.mixer; none for attention, which is fused and reads no key of [mixer].
std::optional<MixerChoice> transformer_mixer(const Config& config);

/// What transformer.mixer may be: attention, and the mixers of sequence models that add an update to the state.
std::vector<std::string> transformer_mixers();

/// What it reads.
ParamTable transformer_keys();

/// 1 + κ; damping has no part in it.
NodeLeak transformer_leak(const Config& config);
/// Which weights are in no energy of their layer (NetworkKind::lacks_layer_energy); empty: all are.
std::string transformer_lacks_energy(const Config& config);
/// κ = 0.
bool transformer_feeds_forward(const Config& config);

}  // namespace nudge
