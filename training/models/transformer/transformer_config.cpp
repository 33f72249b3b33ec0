// SPDX-License-Identifier: Apache-2.0
#include "training/models/transformer/transformer_config.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "training/config/choice_lists.hpp"
#include "training/experiments/sequence_model/sequence_mixer.hpp"

namespace nudge {
namespace {

TransformerShape transformer_shape(const Config& config, Index vocabulary) {
  TransformerShape s;
  s.vocabulary = vocabulary;
  s.tokens = static_cast<Index>(config.integer("model.tokens"));
  s.channels = static_cast<Index>(config.integer("model.channels"));
  s.hidden = static_cast<Index>(config.integer("model.memories"));
  s.heads = static_cast<Index>(config.integer("model.heads"));
  s.layers = static_cast<Index>(config.integer("transformer.layers"));
  s.loops = static_cast<Index>(config.integer("transformer.loops"));
  s.activation = activations.of(config, "transformer.activation");
  s.rotary = rotary_positions.of(config, "transformer.positions");
  s.feedback = config.real("transformer.feedback");
  if (const std::string& name = config.text("transformer.mixer"); name != MixerChoice::fused) {
    const SequenceMixer mixer = sequence_mixer(name, s.channels, s.heads, s.tokens);
    s.mixer.kind = mixer.kind;
    s.mixer.options = mixer.options;
  }
  return s;
}

}  // namespace

std::vector<std::string> transformer_mixers() {
  std::vector<std::string> names{MixerChoice::fused};
  for (const std::string& name : sequence_mixer_names()) {
    if (sequence_mixer(name, 64, 4, 2).rule == StepRule::residual) names.push_back(name);
  }
  return names;
}

std::shared_ptr<const NetworkPlan> transformer_plan(const Config& config, const TaskSizes& task) {
  const TransformerScales scales{config.real("transformer.embedding_scale"),
                                 config.real("transformer.projection_scale"), config.real("transformer.output_scale"),
                                 config.real("transformer.readout_scale")};
  return std::make_shared<TransformerPlan>(transformer_shape(config, task.symbols), scales);
}

double transformer_leak(const Config& config, double /*damping*/) { return 1 + config.real("transformer.feedback"); }

bool transformer_feeds_forward(const Config& config) { return config.real("transformer.feedback") == 0; }

}  // namespace nudge
