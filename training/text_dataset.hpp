// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// A text as character numbers, split into training and validation.
///
/// The vocabulary is the set of code points of the whole text, sorted by value, so equal text gives equal numbers. A
/// leading byte order mark is dropped; CR LF and a lone CR become LF (files differ between systems, the language does
/// not); nothing else is changed. Validation is the contiguous tail, so no training window contains a character of it.
class TextDataset {
 public:
  /// Reads a UTF-8 file. `validation_fraction` in (0, 1); each part must hold at least tokens + 1 characters (one
  /// window with its targets). UserError naming the path when the file is missing, a directory, not a regular file,
  /// unreadable, empty, binary (NUL bytes), not UTF-8 (with the byte offset), or too short.
  static TextDataset load(const std::filesystem::path& path, double validation_fraction, Index tokens);

  /// The same from text in memory; `name` stands for the path in messages.
  static TextDataset from_text(std::string_view utf8, const std::string& name, double validation_fraction,
                               Index tokens);

  Index vocabulary_size() const { return static_cast<Index>(vocabulary_.size()); }
  const std::vector<char32_t>& vocabulary() const { return vocabulary_; }  ///< code point of each id, ascending

  std::span<const int> training() const { return std::span(ids_).first(training_size_); }
  std::span<const int> validation() const { return std::span(ids_).subspan(training_size_); }

  /// UTF-8 text of ids in [0, vocabulary_size()).
  std::string decode(std::span<const int> ids) const;

  /// Ids of a text (a prompt). UserError for invalid UTF-8 and for a character that the vocabulary lacks.
  std::vector<int> encode(std::string_view utf8) const;

 private:
  std::vector<char32_t> vocabulary_;
  std::vector<int> ids_;
  std::size_t training_size_ = 0;
};

}  // namespace nudge
