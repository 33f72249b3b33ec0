// SPDX-License-Identifier: Apache-2.0
#include "training/data/characters.hpp"

#include <utility>

#include "training/data/data_options.hpp"
#include "training/data/default_text.hpp"
#include "training/data/run_seed.hpp"

namespace nudge {

TextDataset load_dataset(const Config& config) {
  const DataOptions options = data_options(config);
  const std::string& path = options.text;
  const TextSplit split{options.validation_fraction, options.test_fraction};
  const auto tokens = static_cast<Index>(config.integer("model.tokens"));
  if (path.empty()) return TextDataset::from_text(default_text(), "the text that ships with nudge", split, tokens);
  return TextDataset::load(path, split, tokens);
}

TaskSizes character_sizes(const Config& config, Index vocabulary) {
  return {static_cast<Index>(config.integer("model.tokens")), vocabulary, vocabulary};
}

CharacterTask::CharacterTask(const Config& config)
    : CharacterTask(load_dataset(config), static_cast<Index>(config.integer("model.tokens")),
                    static_cast<Index>(config.integer("train.batch")), held_out_sizes(config), run_seed(config)) {}

CharacterTask::CharacterTask(TextDataset data, Index tokens, Index batch, const HeldOutSizes& held_out,
                             std::uint64_t seed)
    : data_(std::move(data)), rows_(tokens), batch_(batch), held_out_(held_out), seed_(seed) {}

TaskSizes CharacterTask::sizes() const { return {rows_, data_.vocabulary_size(), data_.vocabulary_size()}; }

Batch CharacterTask::training(std::uint64_t step) const {
  return training_batch(data_.training(), batch_, rows_, seed_, step);
}

std::vector<Batch> CharacterTask::validation() const {
  return validation_batches(data_.validation(), held_out_.validation_batches, held_out_.validation_size, rows_);
}

std::vector<Batch> CharacterTask::test() const {
  if (data_.test().empty() || held_out_.test_batches == 0) return {};
  return validation_batches(data_.test(), held_out_.test_batches, held_out_.test_size, rows_);
}

/// 64-bit FNV-1a over the characters.
std::int64_t CharacterTask::fingerprint() const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3ULL; };
  for (const char32_t c : data_.vocabulary()) mix(c);
  for (const int id : data_.training()) mix(static_cast<std::uint64_t>(id));
  for (const int id : data_.validation()) mix(static_cast<std::uint64_t>(id));
  for (const int id : data_.test()) mix(static_cast<std::uint64_t>(id));
  return static_cast<std::int64_t>(hash);
}

}  // namespace nudge
