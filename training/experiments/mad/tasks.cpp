// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mixers/checks.hpp"
#include "sim/base/rng.hpp"
#include "training/experiments/mad/generators.hpp"
#include "training/experiments/token_task.hpp"

namespace nudge {
namespace {

const char* name_of(MadTask task) {
  switch (task) {
    case MadTask::in_context_recall: return "in_context_recall";
    case MadTask::noisy_recall: return "noisy_recall";
    case MadTask::fuzzy_recall: return "fuzzy_recall";
    case MadTask::selective_copy: return "selective_copy";
    case MadTask::compression: return "compression";
    case MadTask::memorization: return "memorization";
  }
  return "";
}

/// A probe of fuzzy_recall and its repetition take 12 tokens, 8 copied tokens with their places 17.
constexpr Index kShortest = 18;

/// The published sizes where experiment.full_size names the task; else those of the config, no longer than published.
MadSizes sizes_of(const Config& config, MadTask task) {
  MadSizes sizes = published_sizes(task);
  const auto& full = config.texts("experiment.full_size");
  if (std::find(full.begin(), full.end(), name_of(task)) != full.end()) return sizes;
  sizes.tokens = std::min<Index>(sizes.tokens, config.integer("model.tokens"));
  sizes.examples = config.integer("experiment.examples");
  sizes.tests = config.integer("experiment.test_examples");
  sizes.epochs = config.integer("experiment.epochs");
  sizes.batch = config.integer("train.batch");
  return sizes;
}

Index steps_per_epoch(const MadSizes& sizes) { return (sizes.examples + sizes.batch - 1) / sizes.batch; }

/// Examples in an order that is drawn anew in each epoch.
class MadData final : public TokenData {
 public:
  MadData(const Config& config, MadTask task, std::uint64_t seed)
      : task_(task), sizes_(sizes_of(config, task)), seed_(seed) {
    require_at_least("tokens", sizes_.tokens, kShortest);
    tokens_ = static_cast<Index>(mad_example(task, sizes_, seed, Split::training, 0).tokens.size());
  }

  Index vocabulary() const override { return sizes_.vocabulary; }
  Index tokens() const override { return tokens_; }
  Readout readout() const override {
    return task_ == MadTask::compression ? Readout::last_vector : Readout::each_token;
  }
  void example(const Example& example, std::vector<int>& tokens, std::vector<int>& targets) const override {
    MadExample made = mad_example(task_, sizes_, seed_, example.split, example.number);
    std::copy(made.tokens.begin(), made.tokens.end(), tokens.begin());
    std::copy(made.targets.begin(), made.targets.end(), targets.begin());
  }
  std::vector<Example> batch(std::uint64_t step) const override {
    const auto per_epoch = static_cast<std::uint64_t>(steps_per_epoch(sizes_));
    std::vector<std::uint64_t> order(static_cast<std::size_t>(sizes_.examples));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const RngKey key{seed_, Purpose::batch_order, 1};
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      const std::uint64_t j = random_below(order.size() - i, key, step / per_epoch, 0, static_cast<std::uint32_t>(i));
      std::swap(order[i], order[i + static_cast<std::size_t>(j)]);
    }
    const auto size = static_cast<std::size_t>(sizes_.batch);
    const std::size_t begin = static_cast<std::size_t>(step % per_epoch) * size;
    std::vector<Example> examples;
    for (std::size_t i = begin; i < std::min(begin + size, order.size()); ++i) {
      examples.push_back({Split::training, order[i]});
    }
    return examples;
  }
  std::vector<Example> tests() const override {
    std::vector<Example> examples;
    for (Index n = 0; n < sizes_.tests; ++n) examples.push_back({Split::test, static_cast<std::uint64_t>(n)});
    return examples;
  }

 private:
  MadTask task_;
  MadSizes sizes_;
  std::uint64_t seed_;
  Index tokens_;
};

template <class S, MadTask task>
std::unique_ptr<Problem<S>> make(const Config& config, const std::string& variant, std::uint64_t seed) {
  const auto data = std::make_shared<const MadData>(config, task, seed);
  return token_problem<S>(sequence_shape(config, variant, *data), data);
}

template <MadTask task>
ExperimentTask mad_task(const std::string& summary) {
  return {name_of(task),
          summary,
          "mixer",
          token_measures(),
          mixer_variants,
          [](const Config& config) -> std::int64_t {
            const MadSizes sizes = sizes_of(config, task);
            return sizes.epochs * steps_per_epoch(sizes);
          },
          make<float, task>,
          make<double, task>};
}

}  // namespace

/// Tasks of the MAD suite (mad/generators.hpp); sizes: experiment.full_size, model.tokens, experiment.examples, epochs,
/// test_examples, train.batch. Of the published training this keeps AdamW and the cosine schedule, with one learning
/// rate for all (the suite takes the best of six settings).
ExperimentTask in_context_recall_task() {
  return mad_task<MadTask::in_context_recall>("the value that a key had before");
}
ExperimentTask noisy_recall_task() {
  return mad_task<MadTask::noisy_recall>("the value that a key had before, among noise");
}
ExperimentTask fuzzy_recall_task() {
  return mad_task<MadTask::fuzzy_recall>("the value that a key had before, both of several tokens");
}
ExperimentTask selective_copy_task() {
  return mad_task<MadTask::selective_copy>("tokens among blanks, copied in order");
}
ExperimentTask compression_task() {
  return mad_task<MadTask::compression>("random tokens, from the last token's vector");
}
ExperimentTask memorization_task() {
  return mad_task<MadTask::memorization>("values of keys that the weights must hold");
}

}  // namespace nudge
