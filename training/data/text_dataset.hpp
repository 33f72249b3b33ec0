// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Shares of a text that are held out, from its end: … training | validation | test. Each in [0, 1), validation > 0, the
/// sum below 1. test = 0: no third part.
struct TextSplit {
  double validation = 0.05;
  double test = 0.05;
};

/// A text as character numbers, split into training, validation (for choices: stopping, rates, recipes) and test (for the
/// one number that is reported).
///
/// The vocabulary is the set of code points of the whole text, sorted by value, so equal text gives equal numbers. A
/// leading byte order mark is dropped; CR LF and a lone CR become LF (files differ between systems, the language does
/// not); nothing else is changed. The parts are contiguous and disjoint, and windows are cut from one part: no window of
/// one contains a character of another.
class TextDataset {
 public:
  /// Reads a UTF-8 file. Each part must hold at least tokens + 1 characters (one window with its targets). UserError naming the path when the file is missing, a directory, not a regular file,
  /// unreadable, empty, binary (NUL bytes), not UTF-8 (with the byte offset), or too short.
  static TextDataset load(const std::filesystem::path& path, const TextSplit& split, Index tokens);

  /// The same from text in memory; `name` stands for the path in messages.
  static TextDataset from_text(std::string_view utf8, const std::string& name, const TextSplit& split, Index tokens);

  Index vocabulary_size() const { return static_cast<Index>(vocabulary_.size()); }
  const std::vector<char32_t>& vocabulary() const { return vocabulary_; }  ///< code point of each id, ascending

  std::span<const int> training() const { return std::span(ids_).first(training_size_); }
  std::span<const int> validation() const { return std::span(ids_).subspan(training_size_, validation_size_); }
  std::span<const int> test() const { return std::span(ids_).subspan(training_size_ + validation_size_); }

  /// UTF-8 text of ids in [0, vocabulary_size()).
  std::string decode(std::span<const int> ids) const;

  /// Ids of a text (a prompt). UserError for invalid UTF-8 and for a character that the vocabulary lacks.
  std::vector<int> encode(std::string_view utf8) const;

 private:
  std::vector<char32_t> vocabulary_;
  std::vector<int> ids_;
  std::size_t training_size_ = 0, validation_size_ = 0;
};

}  // namespace nudge
