// SPDX-License-Identifier: Apache-2.0
#include "training/models/model_options.hpp"

#include <algorithm>

#include "devices/device_config.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

// auto: none, but where sequence_mixer() has another, which a key at its default leaves as it is.
const Choices<Modulation> modulations{{"auto", Modulation::none},
                                      {"none", Modulation::none},
                                      {"before", Modulation::before},
                                      {"after", Modulation::after}};

const Choices<bool> masks{{"causal", false}, {"bidirectional", true}};
const Choices<bool> embeddings{{"digital", false}, {"devices", true}};

}  // namespace

const Section<ModelOptions>& model_section() {
  using param::choice;
  using param::integer;
  using param::path;
  using param::real;
  static const std::string recipe = "recipe of the prototype, tuned by hand on one seed";
  std::vector<std::string> mixers = force_mixers();
  mixers.insert(mixers.begin(), MixerChoice::fused);
  static const Section<ModelOptions> section = [&] {
    Section<ModelOptions> all = {
        field(path("model.weights", "",
                   "Weights to start from instead of random ones, every parameter by its name in /parameters of a run "
                   "file: "
                   ".npz, "
                   ".safetensors, or HDF5 such as a run file; the option --weights wins. A resumed run needs it again. "
                   "Empty: "
                   "random."),
              &ModelOptions::weights),
        field(
            integer("model.channels", "64", between(1, 65536), "Channels C of the state; model.heads must divide it."),
            &ModelOptions::channels),
        field(integer("model.tokens", "32", between(1, 65536),
                      "Tokens T of a sequence, the context of the character model."),
              &ModelOptions::tokens),
        field(integer("model.memories", "256", between(0, 1048576),
                      "Patterns M of the Hopfield memory, the columns of W_m; 0: no memory."),
              &ModelOptions::memories),
        field(
            integer(
                "model.memory_arrays", "1", between(1, 2),
                "1: the memory returns through the transposed read of its own devices; 2: through a second, separately "
                "programmed array, so that it is not reciprocal."),
            &ModelOptions::memory_arrays),
        field(integer("model.heads", "4", between(1, 65536), "Attention heads H, each with C/H channels."),
              &ModelOptions::heads),
        field(choice("model.mixer", MixerChoice::fused, mixers,
                     "The mixer of the non-conservative force s (Mixer(z) - c z). attention: multi-head softmax "
                     "attention, fused "
                     "with the memory's array; the others are the digital mixers of docs/mixers.md, sized by mixer.*."),
              &ModelOptions::mixer),
        field(real("model.attention_gain", "1.0", at_least(0),
                   "Gain s of the force s (Mixer(z) - c z); 0 leaves a conservative network."),
              &ModelOptions::attention_gain),
        field(real("model.damping", "1.0", at_least(0),
                   "Initial damping c; damping.control regulates it during training."),
              &ModelOptions::damping),
        field(real("model.attention_scale", "0.6", at_least(0), "ga: W_q, W_k, W_v ~ N(0, ga^2/C).", recipe),
              &ModelOptions::scales, &InitialScales::attention),
        field(real("model.output_scale", "0.6", at_least(0), "go: W_o ~ N(0, go^2/C).", recipe), &ModelOptions::scales,
              &InitialScales::output),
        field(
            real("model.memory_scale", "0.4", at_least(0),
                 "gm: spectral norm that the random W_m is scaled to; 2 gm^2 < 1 + s c keeps the energy bounded below.",
                 recipe),
            &ModelOptions::scales, &InitialScales::memory),
        field(
            real("model.coupling_scale", "0", at_least(0),
                 "gc: channels also drive each other through W_c = S (P + P')/2 + A (P - P')/2 with P ~ N(0, gc^2/C), "
                 "trained like "
                 "the rest; 0: no such coupling. Settles while every eigenvalue of W_c has a real part below 1 + s c."),
            &ModelOptions::scales, &InitialScales::coupling),
        field(real("model.coupling_symmetric", "1", any_number(), "S: gain of the reciprocal part of the initial W_c."),
              &ModelOptions::scales, &InitialScales::symmetric),
        field(real("model.coupling_antisymmetric", "1", any_number(),
                   "A: gain of the non-reciprocal part of the initial W_c; 0: a network with an energy, but for "
                   "attention."),
              &ModelOptions::scales, &InitialScales::antisymmetric),
        field(real("model.embedding_scale", "0.5", above(0), "Token and position embeddings ~ N(0, scale^2)."),
              &ModelOptions::scales, &InitialScales::embedding),
        field(param::named(
                  "model.embeddings", "digital",
                  "What holds the tables of symbols and positions where device.model is not digital. digital: numbers, "
                  "learned by the optimizer; devices: arrays, of which a token drives one line, read once per sequence "
                  "and held, with their errors, noise, pulses and energy."),
              embeddings, &ModelOptions::tables_on_devices)};
    all.where(above_zero("model.coupling_scale"), {{&ModelOptions::scales, &InitialScales::symmetric},
                                                   {&ModelOptions::scales, &InitialScales::antisymmetric}});
    all.where(with_devices(), {&ModelOptions::tables_on_devices});
    return all;
  }();
  return section;
}

const Section<MixerChoice>& mixer_section() {
  using param::flag;
  using param::integer;
  using param::named;
  using param::real;
  using param::zero_is;
  static const std::string own =
      "the mixer's own default; model.attention_scale and model.output_scale do the same for attention";
  static const std::string optimizers = "Ren et al., Transformers as Intrinsic Optimizers";
  static const std::string energy = "Lu and Yang, Free Energy Mixer";
  const Range size = between(0, 65536);
  const Condition conditioned = {"mixer.conditioner",
                                 [](const Config& c) {
                                   const auto mixer = network_kind(c).mixer;
                                   const auto choice = mixer == nullptr ? std::nullopt : mixer(c);
                                   return choice && choice->options.modulation != Modulation::none;
                                 },
                                 "before or after"};
  static const Section<MixerChoice> section = [&] {
    Section<MixerChoice> all = {
        field(
            real("mixer.initial_scale", "1", above(0),
                 "Factor of the standard deviations that the weights of a mixer other than attention start from.", own),
            &MixerChoice::initial_scale),
        field(
            zero_is(
                "all",
                integer(
                    "mixer.window", "all", size,
                    "Tokens that a token attends to, itself included; all: every one before it. Softmax mixers only.")),
            &MixerChoice::window),
        field(
            named("mixer.mask", "causal",
                  "bidirectional: a token also attends to those behind it, where these do not hold its answer. Softmax "
                  "mixers "
                  "and gd_*, loop_* only."),
            masks, &MixerChoice::bidirectional),
        field(zero_is("auto", integer("mixer.head_width", "auto", size,
                                      "Channels of the queries, keys and values of one head; auto: C/H.")),
              &MixerChoice::options, &MixerOptions::head_width),
        field(zero_is("auto", integer("mixer.key_value_heads", "auto", size,
                                      "Heads G of keys and values, each read by H/G heads of queries (grouped-query "
                                      "attention): mha, momen, nag, *_stack and free_transformer; auto: H.",
                                      "Ainslie et al., arXiv:2305.13245")),
              &MixerChoice::options, &MixerOptions::key_value_heads),
        field(real("mixer.temperature", "1", above(0), "T of gd_*, loop_*, mha2nd and light2nd.", optimizers),
              &MixerChoice::options, &MixerOptions::temperature),
        field(real("mixer.eta", "0.5", any_number(), "Step size of gd_*, loop_*, mha2nd and light2nd."),
              &MixerChoice::options, &MixerOptions::eta),
        field(real("mixer.ridge", "0.1", above(0), "Ridge of light2nd."), &MixerChoice::options, &MixerOptions::ridge),
        field(integer("mixer.iterations", "5", between(1, 1000),
                      "Iterations of loop_*, and of any mixer in `nudge energy`."),
              &MixerChoice::options, &MixerOptions::iterations),
        field(real("mixer.momentum_start", "0.9", from_below(0, 1), "beta of momen, nag and *_stack before learning.",
                   "Ren et al., Transformers as Intrinsic Optimizers, section 3.1"),
              &MixerChoice::options, &MixerOptions::momentum_start),
        field(flag("mixer.refresh", "true", "loop_*: the attended tokens move along; false: they stay at the start."),
              &MixerChoice::options, &MixerOptions::refresh),
        field(integer("mixer.layers", "2", between(1, 64), "Layers of *_stack."), &MixerChoice::options,
              &MixerOptions::layers),
        field(zero_is("auto", integer("mixer.values", "auto", size, "fem_*: channels d that are read; auto: C/2.",
                                      energy + ", appendix H.7")),
              &MixerChoice::options, &MixerOptions::values),
        field(zero_is("auto",
                      integer("mixer.keys", "auto", size, "fem_softmax, fem_gla: columns of W_q and W_k; auto: C.",
                              energy + ", appendix H.7")),
              &MixerChoice::options, &MixerOptions::keys),
        field(
            zero_is(
                "auto",
                integer(
                    "mixer.decays", "auto", size,
                    "fem_gla: auto or H is a decay per head, mixer.keys one per feature; fem_lrnn: groups, auto: H.")),
            &MixerChoice::options, &MixerOptions::decays),
        field(integer("mixer.groups", "1", between(1, 65536), "fem_aft: groups of channels that share a weight."),
              &MixerChoice::options, &MixerOptions::groups),
        field(integer("mixer.states", "16", between(1, 65536), "fem_ssm*: states N per channel; mamba2: per head."),
              &MixerChoice::options, &MixerOptions::states),
        field(flag("mixer.rope", "false",
                   "Rotary positions, for an even head width: mha, *_stack, mha2nd*, light2nd*, fem_softmax (fem_gla "
                   "always)."),
              &MixerChoice::options, &MixerOptions::rope),
        field(real("mixer.epsilon", "1e-6", above(0), "fem_gla: added to the features."), &MixerChoice::options,
              &MixerOptions::epsilon),
        field(zero_is("auto",
                      integer("mixer.gate_groups", "auto", size, "fem_*: groups of the outer gate's norm; auto: H.")),
              &MixerChoice::options, &MixerOptions::gate_groups),
        field(
            named(
                "mixer.conditioner", "auto",
                "fem_*: the time-decay conditioner modulates nothing, or the gates before or after their nonlinearity; "
                "auto: before in the fem_softmax of a sequence model, else none.",
                energy + ", appendix I; before keeps lambda in [0, 1]"),
            modulations, &MixerChoice::options, &MixerOptions::modulation),
        field(zero_is("auto",
                      integer("mixer.conditioner_width", "auto", size,
                              "fem_*: channels of the conditioner; auto: C/16, at least 1.", energy + ", appendix K")),
              &MixerChoice::options, &MixerOptions::hidden),
        field(flag("mixer.log_sum_exp", "true", "fem_*: false leaves out the free energy (ablation L)."),
              &MixerChoice::options, &MixerOptions::log_sum_exp),
        field(flag("mixer.inner_gate", "true", "fem_*: false leaves out the learned temperature (ablation T)."),
              &MixerChoice::options, &MixerOptions::inner_gate),
        field(flag("mixer.outer_gate", "true", "fem_*: false leaves out the gate (ablation G)."), &MixerChoice::options,
              &MixerOptions::outer_gate)};
    all.where(conditioned, {{&MixerChoice::options, &MixerOptions::hidden}});
    return all;
  }();
  return section;
}

MixerChoice mixer_choice(const Config& config) {
  const ModelOptions model = model_options(config);
  MixerChoice choice = mixer_section().read(config);
  choice.kind = model.mixer;
  MixerOptions& o = choice.options;
  const auto fill = [](Index& size, Index otherwise) { size = size > 0 ? size : otherwise; };
  o.width = model.channels;
  o.heads = model.heads;
  fill(o.head_width, o.width / o.heads);
  fill(o.values, o.width / 2);
  fill(o.keys, o.width);
  fill(o.decays, o.heads);
  fill(o.gate_groups, o.heads);
  fill(o.hidden, std::max<Index>(1, o.width / 16));
  return choice;
}

}  // namespace nudge
