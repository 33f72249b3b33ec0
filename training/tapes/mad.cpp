// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "training/data/data_options.hpp"
#include "training/data/mad/mad_task.hpp"
#include "training/tapes/token_model.hpp"

namespace nudge {
namespace {

/// The published sizes where experiment.full_size names the task; else those of the config, no longer than published.
MadSizes sizes_of(const Config& config, MadKind kind) {
  MadSizes sizes = published_sizes(kind);
  const auto& full = config.texts("experiment.full_size");
  if (std::find(full.begin(), full.end(), to_string(kind)) != full.end()) return sizes;
  sizes.tokens = std::min<Index>(sizes.tokens, config.integer("model.tokens"));
  sizes.examples = data_options(config).examples;
  sizes.tests = config.integer("experiment.test_examples");
  sizes.epochs = config.integer("experiment.epochs");
  sizes.batch = config.integer("train.batch");
  return sizes;
}

template <MadKind kind>
ExperimentTask mad_task(const std::string& summary) {
  constexpr Readout readout = kind == MadKind::compression ? Readout::last_vector : Readout::each_token;
  return {to_string(kind),
          summary,
          "mixer",
          token_measures(),
          mixer_variants,
          [](const Config& config) -> std::int64_t {
            const MadSizes sizes = sizes_of(config, kind);
            return sizes.epochs * steps_per_epoch(sizes);
          },
          [](const Config& config, std::uint64_t seed) -> std::unique_ptr<Task> {
            const MadSizes sizes = sizes_of(config, kind);
            return std::make_unique<MadTask>(kind, sizes, HeldOutSizes{1, sizes.tests, 0, 0}, seed);
          },
          make_token_model<float, readout>,
          make_token_model<double, readout>};
}

}  // namespace

/// Tasks of the MAD suite (data/mad/generators.hpp); sizes: experiment.full_size, model.tokens, task.examples,
/// experiment.epochs, test_examples, train.batch. Of the published training this keeps AdamW and the cosine schedule, with
/// one learning rate for all (the suite takes the best of six settings).
ExperimentTask in_context_recall_task() {
  return mad_task<MadKind::in_context_recall>("the value that a key had before");
}
ExperimentTask noisy_recall_task() {
  return mad_task<MadKind::noisy_recall>("the value that a key had before, among noise");
}
ExperimentTask fuzzy_recall_task() {
  return mad_task<MadKind::fuzzy_recall>("the value that a key had before, both of several tokens");
}
ExperimentTask selective_copy_task() {
  return mad_task<MadKind::selective_copy>("tokens among blanks, copied in order");
}
ExperimentTask compression_task() {
  return mad_task<MadKind::compression>("random tokens, from the last token's vector");
}
ExperimentTask memorization_task() {
  return mad_task<MadKind::memorization>("values of keys that the weights must hold");
}

}  // namespace nudge
