// SPDX-License-Identifier: Apache-2.0
#include "training/models/transformer/transformer_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mixers/sequence_mixer.hpp"
#include "training/learning/correlator.hpp"
#include "training/models/model_options.hpp"

namespace nudge {
namespace {

const Choices<Activation> activations{{"relu2", Activation::relu2}, {"gelu", Activation::gelu}};
const Choices<FeedForward> forward_parts{{"two_layer", FeedForward::two_layer}, {"memory", FeedForward::memory}};
const Choices<bool> rotary_positions{{"rotary", true}, {"learned", false}};

TransformerShape transformer_shape(const Config& config, Index vocabulary) {
  const ModelOptions model = model_options(config);
  TransformerShape s = transformer_section().read(config).shape;
  s.vocabulary = vocabulary;
  s.tokens = model.tokens;
  s.channels = model.channels;
  s.hidden = model.memories;
  s.heads = model.heads;
  s.tables_on_devices = model.tables_on_devices;
  if (!s.mixer.is_fused()) {
    s.mixer = sequence_choice(config, s.mixer.kind, s.channels, s.heads, s.tokens);
  }
  return s;
}

}  // namespace

const Section<TransformerOptions>& transformer_section() {
  using param::choice, param::integer, param::named, param::real;
  static const std::string recipe = "recipe of the prototype (notes on deep equilibrium), one seed";
  static const Section<TransformerOptions> section = {
      field(integer("transformer.layers", "2", between(1, 1024),
                    "Layers L of a network.kind = transformer, attention and feed-forward nodes each; sizes C, T, H "
                    "and M (hidden units) are those of model.*."),
            &TransformerOptions::shape, &TransformerShape::layers),
      field(integer("transformer.loops", "1", between(1, 1024),
                    "K: the stack of L layers is repeated K times with the same weights; 2 L K nodes."),
            &TransformerOptions::shape, &TransformerShape::loops),
      field(choice("transformer.mixer", "attention", transformer_mixers(),
                   "Mixer of the attention nodes: fused softmax attention, or a mixer of docs/reference/mixers.md "
                   "with its sizes as a sequence.mixer (mha: the same attention)."),
            &TransformerOptions::shape, &TransformerShape::mixer, &MixerChoice::kind),
      field(named("transformer.feed_forward", "two_layer",
                  "Feed-forward nodes. two_layer: phi(m W1) W2 of two arrays. memory: 2 max(m W1, 0) W1' of one "
                  "array, read both ways, as the Hopfield memory of the block: the descent of an energy."),
            forward_parts, &TransformerOptions::shape, &TransformerShape::feed_forward),
      field(read_with(chosen("transformer.feed_forward", {"two_layer"}),
                      named("transformer.activation", "relu2", "phi of the feed-forward nodes.", recipe)),
            activations, &TransformerOptions::shape, &TransformerShape::activation),
      field(named("transformer.positions", "rotary",
                  "rotary: queries and keys are turned by their position; learned: a table added to the embedding.",
                  recipe),
            rotary_positions, &TransformerOptions::shape, &TransformerShape::rotary),
      field(real("transformer.feedback", "0", from_below(0, 1),
                 "kappa: feedback kappa (z_above - z) from the node above to every node except the last. 0: "
                 "feed-forward, the equilibrium is the forward pass."),
            &TransformerOptions::shape, &TransformerShape::feedback),
      field(real("transformer.embedding_scale", "1.0", above(0), "tok and pos ~ N(0, scale^2).", recipe),
            &TransformerOptions::scales, &TransformerScales::embedding),
      field(real("transformer.projection_scale", "1.0", at_least(0), "Wq, Wk, Wv, W1 ~ N(0, scale^2/C).", recipe),
            &TransformerOptions::scales, &TransformerScales::projection),
      field(real("transformer.output_scale", "0.5", at_least(0), "Wo ~ N(0, scale^2/(C L)), W2 ~ N(0, scale^2/(M L)).",
                 recipe),
            &TransformerOptions::scales, &TransformerScales::output),
      field(real("transformer.readout_scale", "0.5", at_least(0), "Wh ~ N(0, scale^2/C).", recipe),
            &TransformerOptions::scales, &TransformerScales::readout)};
  return section;
}

std::vector<std::string> transformer_mixers() {
  std::vector<std::string> names{MixerChoice::fused};
  for (const std::string& name : sequence_mixer_names()) {
    if (sequence_mixer(name, 64, 4, 2).rule == StepRule::residual) names.push_back(name);
  }
  return names;
}

std::optional<MixerChoice> transformer_mixer(const Config& config) {
  const MixerChoice choice = transformer_shape(config, 1).mixer;
  return choice.is_fused() ? std::nullopt : std::optional(choice);
}

std::shared_ptr<const NetworkPlan> transformer_plan(const Config& config, const TaskSizes& task) {
  return std::make_shared<TransformerPlan>(transformer_shape(config, task.symbols),
                                           transformer_section().read(config).scales);
}

NodeLeak transformer_leak(const Config& config) {
  return {.constant = 1 + transformer_section().read(config).shape.feedback};
}

ParamTable transformer_keys() {
  using M = ModelOptions;
  ParamTable rows =
      model_section().rows_of({&M::weights, &M::channels, &M::memories, &M::heads, &M::tables_on_devices});
  add_rows(rows, transformer_section().rows());
  add_rows(rows, sequence_mixer_rows("transformer.mixer", transformer_mixers()));
  add_rows(rows, correlator_keys());
  return rows;
}

std::string transformer_lacks_energy(const Config& config) {
  const TransformerShape s = transformer_shape(config, 1);
  if (!has_layer_energy(s.mixer)) {
    return fmt::format("transformer.mixer = {} has weights outside any energy (W_v, W_o or the like); {} have none",
                       s.mixer.is_fused() ? MixerChoice::fused : transformer_section().read(config).shape.mixer.kind,
                       fmt::join(layer_energy_mixers(), ", "));
  }
  return s.feed_forward == FeedForward::memory
             ? ""
             : "transformer.feed_forward = two_layer has W1 and W2 outside any energy. Use memory";
}

bool transformer_feeds_forward(const Config& config) { return transformer_section().read(config).shape.feedback == 0; }

}  // namespace nudge
