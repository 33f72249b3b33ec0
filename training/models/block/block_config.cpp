// SPDX-License-Identifier: Apache-2.0
#include "training/models/block/block_config.hpp"

#include <algorithm>

#include "training/config/choice_lists.hpp"

namespace nudge {
MixerChoice mixer_choice(const Config& config) {
  const auto size = [&config](const char* key, Index otherwise) {
    const auto given = static_cast<Index>(config.integer(key));
    return given > 0 ? given : otherwise;
  };
  MixerChoice choice;
  choice.kind = config.text("model.mixer");
  choice.window = static_cast<Index>(config.integer("mixer.window"));
  choice.initial_scale = config.real("mixer.initial_scale");
  MixerOptions& o = choice.options;
  o.width = static_cast<Index>(config.integer("model.channels"));
  o.heads = static_cast<Index>(config.integer("model.heads"));
  o.head_width = size("mixer.head_width", o.width / o.heads);
  o.temperature = config.real("mixer.temperature");
  o.eta = config.real("mixer.eta");
  o.ridge = config.real("mixer.ridge");
  o.iterations = static_cast<int>(config.integer("mixer.iterations"));
  o.refresh = config.flag("mixer.refresh");
  o.layers = static_cast<int>(config.integer("mixer.layers"));
  o.values = size("mixer.values", o.width / 2);
  o.keys = size("mixer.keys", o.width);
  o.decays = size("mixer.decays", o.heads);
  o.groups = static_cast<Index>(config.integer("mixer.groups"));
  o.states = static_cast<Index>(config.integer("mixer.states"));
  o.rope = config.flag("mixer.rope");
  o.epsilon = config.real("mixer.epsilon");
  o.gate_groups = size("mixer.gate_groups", o.heads);
  o.modulation = modulations.of(config, "mixer.conditioner");
  o.hidden = size("mixer.conditioner_width", std::max<Index>(1, o.width / 16));
  o.log_sum_exp = config.flag("mixer.log_sum_exp");
  o.inner_gate = config.flag("mixer.inner_gate");
  o.outer_gate = config.flag("mixer.outer_gate");
  return choice;
}

ModelShape model_shape(const Config& config, Index vocabulary) {
  ModelShape shape;
  shape.vocabulary = vocabulary;
  shape.tokens = static_cast<Index>(config.integer("model.tokens"));
  shape.channels = static_cast<Index>(config.integer("model.channels"));
  shape.memories = static_cast<Index>(config.integer("model.memories"));
  shape.heads = static_cast<Index>(config.integer("model.heads"));
  shape.mixer = mixer_choice(config);
  shape.coupling = config.real("model.coupling_scale") > 0;
  shape.memory_arrays = static_cast<int>(config.integer("model.memory_arrays"));
  shape.correction = correction_scopes.of(config, "correction.scope");
  return shape;
}

InitialScales block_scales(const Config& config) {
  return {config.real("model.attention_scale"),       config.real("model.output_scale"),
          config.real("model.memory_scale"),          config.real("model.embedding_scale"),
          config.real("model.coupling_scale"),        config.real("model.coupling_symmetric"),
          config.real("model.coupling_antisymmetric")};
}

std::shared_ptr<const NetworkPlan> block_plan(const Config& config, const TaskSizes& task) {
  return std::make_shared<BlockPlan>(model_shape(config, task.symbols), block_scales(config),
                                     Damping{config.real("model.attention_gain"), config.real("model.damping")});
}

double block_leak(const Config& config, double damping) {
  return 1.0 + Damping{config.real("model.attention_gain"), damping}.total();
}

}  // namespace nudge
