// SPDX-License-Identifier: Apache-2.0
#include "training/models/block/block_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "circuits/spice/exports.hpp"
#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "training/data/data_options.hpp"
#include "training/learning/controller.hpp"
#include "training/learning/correlator.hpp"
#include "training/models/model_options.hpp"

namespace nudge {
namespace {

const Choices<CorrectionScope> correction_scopes{{"attention", CorrectionScope::attention},
                                                 {"full", CorrectionScope::full}};
const Choices<bool> multipliers{{"digital", false}, {"analog", true}};

}  // namespace

const Section<CorrectionOptions>& correction_section() {
  using param::integer, param::named, param::real, param::zero_is;
  static const Section<CorrectionOptions> section = {
      field(named("correction.scope", "attention",
                  "Scope of the correction in the nudged phase. full: also a memory on two arrays "
                  "(model.memory_arrays = 2), which is not reciprocal."),
            correction_scopes, &CorrectionOptions::scope),
      field(real("correction.gain_error", "0", {-1, 10, true, false},
                 "Relative gain error of the circuits that carry J v and J' v, common to all nodes."),
            &CorrectionOptions::path, &CorrectionSpec::gain_error),
      field(real("correction.gain_spread", "0", between(0, 10),
                 "Standard deviation of the static gain error of each node."),
            &CorrectionOptions::path, &CorrectionSpec::gain_spread),
      field(real("correction.offset", "0", at_least(0),
                 "Standard deviation of the static offset of each node's correction, in units of the force."),
            &CorrectionOptions::path, &CorrectionSpec::offset),
      field(
          real(
              "correction.noise", "0", at_least(0),
              "Fresh noise of the correction per sqrt(tau), relative to the rms of what the path carries in one read."),
          &CorrectionOptions::path, &CorrectionSpec::noise),
      field(real("correction.delay", "0", at_least(0),
                 "Delay of the correction in units of tau; rounded to whole steps."),
            &CorrectionOptions::path, &CorrectionSpec::delay),
      field(zero_is("ideal", integer("correction.converter_bits", "ideal", zero_or_between(2, 24),
                                     "Resolution of a converter in the correction path.")),
            &CorrectionOptions::path, &CorrectionSpec::converter, &ConverterSpec::bits),
      field(zero_is("auto", real("correction.converter_range", "auto", at_least(0),
                                 "Full scale of that converter; auto: ranged by each read.")),
            &CorrectionOptions::path, &CorrectionSpec::converter, &ConverterSpec::range)};
  return section;
}

const Section<AttentionErrors>& attention_section() {
  using param::named, param::real;
  static const Section<AttentionErrors> section = [] {
    Section<AttentionErrors> all = {
        field(named("attention.products", "digital",
                    "Circuit of the scores q k', their softmax and the weighted values of model.mixer = attention "
                    "on devices. digital: exact, counted as digital work. analog: a multiplier, an exponential and "
                    "a second multiplier for every head and pair of tokens, with mismatch."),
              multipliers, &AttentionErrors::analog),
        field(real("attention.gain_spread", "0", from_below(0, 0.5),
                   "Standard deviation of the static gains of both multipliers.",
                   "hardware.level = local: chosen, the matching of small multipliers"),
              &AttentionErrors::gain_spread),
        field(real("attention.offset_spread", "0", at_least(0),
                   "Standard deviation of the static offset of a score, which is the logarithm of the factor of its "
                   "exponential.",
                   "hardware.level = local: 2 mV of a small transistor (chosen) over kT/q = 26 mV"),
              &AttentionErrors::offset_spread)};
    all.where(chosen("attention.products", {"analog"}),
              {&AttentionErrors::gain_spread, &AttentionErrors::offset_spread});
    return all;
  }();
  return section;
}

std::optional<MixerChoice> block_mixer(const Config& config) {
  const MixerChoice choice = mixer_choice(config);
  return choice.is_fused() ? std::nullopt : std::optional(choice);
}

ModelShape model_shape(const Config& config, Index vocabulary) {
  const ModelOptions model = model_options(config);
  ModelShape shape;
  shape.vocabulary = vocabulary;
  shape.tokens = model.tokens;
  shape.channels = model.channels;
  shape.memories = model.memories;
  shape.heads = model.heads;
  shape.mixer = mixer_choice(config);
  shape.coupling = model.scales.coupling > 0;
  shape.memory_arrays = model.memory_arrays;
  shape.tables_on_devices = model.tables_on_devices;
  if (on_devices(config)) shape.attention = attention_section().read(config);
  shape.attention.seed = run_seed(config);
  shape.correction = correction_section().read(config).scope;
  return shape;
}

std::shared_ptr<const NetworkPlan> block_plan(const Config& config, const TaskSizes& task) {
  const ModelOptions model = model_options(config);
  return std::make_shared<BlockPlan>(model_shape(config, task.symbols), model.scales, model.initial_damping());
}

namespace {

/// Table of the keys that all founding blocks read.
ParamTable shared_keys() {
  ParamTable rows = stabiliser_section().rows();
  add_rows(rows, correlator_keys());
  return rows;
}

}  // namespace

ParamTable block_keys() {
  ParamTable rows = model_section().rows_without({&ModelOptions::tokens});
  add_rows(rows, mixer_rows("model.mixer", force_mixers()));
  add_rows(rows, read_with(chosen("model.mixer", {MixerChoice::fused}),
                           read_with(with_devices(), attention_section().rows())));
  add_rows(rows, shared_keys());
  return rows;
}

ParamTable stacked_block_keys() {
  using M = ModelOptions;
  ParamTable rows = model_section().rows_without({&M::tokens,
                                                  &M::mixer,
                                                  &M::memory_arrays,
                                                  {&M::scales, &InitialScales::coupling},
                                                  {&M::scales, &InitialScales::symmetric},
                                                  {&M::scales, &InitialScales::antisymmetric}});
  add_rows(rows, read_with(with_devices(), attention_section().rows()));
  add_rows(rows, shared_keys());
  return rows;
}

std::string block_lacks_energy(const Config& config) {
  const ModelShape s = model_shape(config, 1);
  if (!has_layer_energy(s.mixer)) {
    return fmt::format("model.mixer = {} has weights outside any energy (W_v, W_o or the like); {} have none",
                       s.mixer.kind, fmt::join(layer_energy_mixers(), ", "));
  }
  if (s.coupling) return "model.coupling_scale > 0: a non-reciprocal coupling has no energy";
  return s.memories > 0 && s.memory_arrays == 2 ? "model.memory_arrays = 2: the memory returns through other weights"
                                                : "";
}

NodeLeak block_leak(const Config& config) { return {.per_damping = model_options(config).attention_gain}; }

namespace {

double terms(const NetworkPlan& plan) {
  const ModelShape& shape = dynamic_cast<const BlockPlan&>(plan).shape();
  if (shape.attention.analog && (shape.attention.gain_spread > 0 || shape.attention.offset_spread > 0)) {
    throw UserError("attention.*: exported multipliers have no mismatch. Set these keys to 0");
  }
  if (!shape.mixer.is_fused() || shape.memory_arrays != 1) {
    throw UserError(
        "crossbar: --block exports fused attention and a memory on one array. Leave model.mixer and "
        "model.memory_arrays at their defaults");
  }
  const Index columns = (shape.coupling ? 5 : 4) * shape.channels + shape.memories;
  return static_cast<double>(shape.tokens * shape.channels * columns);
}

ExportedNetwork write(const Network<double>& network, const NetlistOptions& options) {
  BlockNetlist spec;
  spec.drive = options.clamp;
  spec.start = Matrix<double>::Zero(options.clamp.rows(), network.cols());
  spec.time_constant_s = options.circuit.time_constant_s;
  spec.capacitance_F = options.circuit.node_capacitance_F;
  spec.curve = options.curve;
  spec.read_voltage_V = options.circuit.read_voltage_V;
  spec.stop_s = 20 * options.circuit.time_constant_s;
  spec.print_step_s = 0.01 * options.circuit.time_constant_s;
  const Index heads = dynamic_cast<const BlockPlan&>(network.plan()).shape().heads;
  return {block_netlist(network.circuit(), heads, network.map(BlockParameter::output), spec, options.data_file), {}};
}

}  // namespace

NetlistExport block_export() { return {terms, {"model.tokens", "model.channels", "model.memories"}, write}; }

}  // namespace nudge
