// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/correction_spec.hpp"
#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/models/block/block_plan.hpp"
#include "training/models/node_leak.hpp"

namespace nudge {

/// The section [correction]: what the correction of the nudged phase covers, and the circuits that carry it.
struct CorrectionOptions {
  CorrectionScope scope = {};
  CorrectionSpec path;
};
const Section<CorrectionOptions>& correction_section();

/// The section [attention]: the circuits of the fused attention of a block or stack. Its seed is that of the run.
const Section<AttentionErrors>& attention_section();

/// The mixer of model.mixer; none for attention, which is fused and reads no key of [mixer].
std::optional<MixerChoice> block_mixer(const Config& config);

/// Sizes of the block of [model] and [mixer].
ModelShape model_shape(const Config& config, Index vocabulary);

std::shared_ptr<const NetworkPlan> block_plan(const Config& config, const TaskSizes& task);

/// What a block reads, and what a stack of them reads beside [stack].
ParamTable block_keys();
ParamTable stacked_block_keys();

/// Which weights are in no energy of the block (NetworkKind::lacks_layer_energy); empty: all are.
std::string block_lacks_energy(const Config& config);

/// 1 + s c.
NodeLeak block_leak(const Config& config);

}  // namespace nudge
