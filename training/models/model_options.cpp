// SPDX-License-Identifier: Apache-2.0
#include "training/models/model_options.hpp"

#include "devices/device_config.hpp"
#include "mixers/fem/free_energy_mixer.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

const Choices<bool> masks{{"causal", false}, {"bidirectional", true}};
const Choices<bool> embeddings{{"digital", false}, {"devices", true}};

}  // namespace

const Section<ModelOptions>& model_section() {
  using param::choice, param::integer, param::path, param::real;
  static const std::string recipe = "recipe of the prototype, tuned by hand on one seed";
  std::vector<std::string> mixers = force_mixers();
  mixers.insert(mixers.begin(), MixerChoice::fused);
  static const Section<ModelOptions> section = [&] {
    Section<ModelOptions> all = {
        field(path("model.weights", "",
                   "Initial weights: .npz, .safetensors or HDF5, such as a run file, each parameter by its name in "
                   "/parameters. The option --weights wins. A resumed run reads the file again. Empty: random."),
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
        field(integer("model.memory_arrays", "1", between(1, 2),
                      "Arrays of the memory. 1: it returns through the transposed read of its own devices. 2: "
                      "through a second, separately programmed array, so that it is not reciprocal."),
              &ModelOptions::memory_arrays),
        field(integer("model.heads", "4", between(1, 65536), "Attention heads H, each with C/H channels."),
              &ModelOptions::heads),
        field(choice("model.mixer", MixerChoice::fused, mixers,
                     "Mixer of the non-conservative force s (Mixer(z) - c z). attention: multi-head softmax "
                     "attention, fused with the memory's array. The others are the digital mixers of "
                     "docs/reference/mixers.md, sized by mixer.*."),
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
        field(real("model.coupling_scale", "0", at_least(0),
                   "gc: coupling of channels through W_c = S (P + P')/2 + A (P - P')/2 with P ~ N(0, gc^2/C), "
                   "trained like the rest; 0: none. The network settles while every eigenvalue of W_c has a real "
                   "part below 1 + s c."),
              &ModelOptions::scales, &InitialScales::coupling),
        field(real("model.coupling_symmetric", "1", any_number(), "S: gain of the reciprocal part of the initial W_c."),
              &ModelOptions::scales, &InitialScales::symmetric),
        field(real("model.coupling_antisymmetric", "1", any_number(),
                   "A: gain of the non-reciprocal part of the initial W_c; 0: the coupling has an energy."),
              &ModelOptions::scales, &InitialScales::antisymmetric),
        field(real("model.embedding_scale", "0.5", above(0), "Token and position embeddings ~ N(0, scale^2)."),
              &ModelOptions::scales, &InitialScales::embedding),
        field(param::named("model.embeddings", "digital",
                           "Storage of the tables of symbols and positions when device.model is not digital. "
                           "digital: digital numbers, learned by the optimizer. devices: arrays with errors, noise, "
                           "pulses and energy; a token drives one line, which is read once per sequence and held."),
              embeddings, &ModelOptions::tables_on_devices)};
    all.where(above_zero("model.coupling_scale"), {{&ModelOptions::scales, &InitialScales::symmetric},
                                                   {&ModelOptions::scales, &InitialScales::antisymmetric}});
    all.where(with_devices(), {&ModelOptions::tables_on_devices});
    return all;
  }();
  return section;
}

ParamTable with_weights(const ParamTable& rows) {
  ParamTable all = model_section().rows_of({&ModelOptions::weights});
  add_rows(all, rows);
  return all;
}

const Section<MixerChoice>& mixer_section() {
  using param::integer, param::named, param::real, param::zero_is;
  static const std::string own =
      "the mixer's own default; model.attention_scale and model.output_scale do the same for attention";
  static const Section<MixerChoice> section = {
      field(real("mixer.initial_scale", "1", above(0),
                 "Factor on the initial standard deviations of the weights of a mixer other than attention.", own),
            &MixerChoice::initial_scale),
      field(zero_is(
                "all",
                integer(
                    "mixer.window", "all", between(0, 65536),
                    "Tokens that a token attends to, itself included; all: every one before it. Softmax mixers only.")),
            &MixerChoice::window),
      field(named("mixer.mask", "causal",
                  "causal: a token attends to itself and earlier ones. bidirectional: also to later ones, for tasks "
                  "where these do not contain its answer. Softmax mixers and gd_*, loop_* only."),
            masks, &MixerChoice::bidirectional),
      field(integer("mixer.iterations", "5", between(1, 1000),
                    "Iterations of loop_*, and of any mixer in `nudge energy`."),
            &MixerChoice::options, &MixerOptions::iterations)};
  return section;
}

MixerChoice mixer_choice(const Config& config) {
  const ModelOptions model = model_options(config);
  MixerChoice choice = mixer_section().read(config);
  choice.kind = model.mixer;
  choice.options.width = model.channels;
  choice.options.heads = model.heads;
  if (choice.is_fused()) return choice;
  const MixerKind<double>& kind = mixer_kind<double>(choice.kind);
  for (const MixerKey& key : kind.keys({})) key.read(config, choice.options);
  kind.fit(choice.options);
  return choice;
}

namespace {

/// Whether the config has a mixer with a conditioner, which its size waits for.
bool has_conditioner(const Config& config) {
  const auto mixer = network_kind(config).mixer;
  const auto choice = mixer == nullptr ? std::nullopt : mixer(config);
  return choice && choice->options.of<FreeEnergyOptions>().modulation != Modulation::none;
}

/// Adds what a mixer reads where it is chosen.
void add_mixer(ParamTable& rows, const Condition& chosen_one, const SequenceMixer& mixer) {
  const bool masked = !mixer_kind<double>(mixer.kind).spec(mixer.options).only_causal;
  const Section<MixerChoice>& all = mixer_section();
  add_rows(rows, read_with(chosen_one, masked ? all.rows()
                                              : all.rows_without({&MixerChoice::window, &MixerChoice::bidirectional})));
  for (MixerKey& key : mixer.keys()) {
    if (key.row.key == "mixer.conditioner_width") {
      key.row = read_with({"mixer.conditioner", has_conditioner, "before or after"}, std::move(key.row));
    }
    add_rows(rows, {read_with(chosen_one, key.row)});
    // Files of older versions say so of mixers that have no conditioner.
    if (key.row.key == "mixer.conditioner") add_rows(rows, {read_with(chosen(key.row.key, {"none"}), key.row)});
  }
}

}  // namespace

MixerChoice sequence_choice(const Config& config, const std::string& name, Index channels, Index heads, Index tokens) {
  const SequenceMixer mixer = sequence_mixer(name, channels, heads, tokens);
  MixerChoice choice{mixer.kind, mixer.options};
  mixer_section().take_changed(config, choice);
  for (const MixerKey& key : mixer.keys()) {
    if (!config.at_default(key.row.key)) key.read(config, choice.options);
  }
  choice.initial_scale = 1;
  return choice;
}

ParamTable mixer_rows(const std::string& choice, const std::vector<std::string>& kinds) {
  ParamTable rows;
  for (const std::string& kind : kinds) {
    add_mixer(rows, chosen(choice, {kind}), {kind, kind, StepRule::residual, one_head()});
  }
  return rows;
}

ParamTable sequence_mixer_rows(const std::string& choice, const std::vector<std::string>& names) {
  ParamTable rows;
  for (const std::string& name : names) {
    if (name == MixerChoice::fused) continue;
    add_mixer(rows, chosen(choice, {name}), sequence_mixer(name, 64, 4, 2));  // sizes that all can have
  }
  std::erase_if(rows, [](const ParamRow& row) { return row.key == "mixer.initial_scale"; });
  return rows;
}

}  // namespace nudge
