// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/data/task.hpp"
#include "training/data/text_dataset.hpp"

namespace nudge {

/// Loads the corpus of data.text, or the text that ships with the project when that is empty.
TextDataset load_dataset(const Config& config);

/// Sizes of a character model on a text of `vocabulary` different characters.
TaskSizes character_sizes(const Config& config, Index vocabulary);

/// Next-character prediction: windows of model.tokens characters of data.text, the target of a character is the next one.
class CharacterTask final : public Task {
 public:
  /// Task on data.text, with train.batch windows in a batch and the held-out windows of held_out_sizes().
  explicit CharacterTask(const Config& config);
  /// Task on `data`; held-out windows are evenly spaced over a part.
  CharacterTask(TextDataset data, Index tokens, Index batch, const HeldOutSizes& held_out, std::uint64_t seed);

  TaskSizes sizes() const override;
  Batch training(std::uint64_t step) const override;
  std::vector<Batch> validation() const override;
  std::vector<Batch> test() const override;
  Index samples_that_overlap(bool test) const override;
  std::optional<TextLines> lines() const override { return text_lines(data_); }
  std::int64_t fingerprint() const override;

  const TextDataset& data() const { return data_; }

 private:
  TextDataset data_;
  Index rows_, batch_;
  HeldOutSizes held_out_;
  std::uint64_t seed_;
};

}  // namespace nudge
