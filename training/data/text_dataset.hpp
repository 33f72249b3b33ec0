// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// Shares of a text that are held out, from its end: … training | validation | test. Each in [0, 1), validation > 0, the
/// sum below 1. test = 0: no third part.
struct TextSplit {
  double validation = 0.05;
  double test = 0.05;
};

/// Text as character numbers, split into training, validation (for choices: stopping, rates, recipes) and test (for the
/// one number that is reported).
///
/// The vocabulary is the set of code points of the whole text, sorted by value, so equal text gives equal numbers. A
/// leading byte order mark is dropped. CR LF and a lone CR become LF (files differ between systems, the language does
/// not). Nothing else is changed. The splits are contiguous and disjoint, and a window is cut from one split. No window
/// of one contains a character of another.
class TextDataset {
 public:
  /// Reads a UTF-8 file. Each split must hold at least tokens + 1 characters (one window with its targets). UserError
  /// names the path of a file that is missing, a directory, not a regular file, or unreadable. So it does for one that
  /// is empty, binary (NUL bytes), not UTF-8 (with the byte offset), or too short.
  static TextDataset load(const std::filesystem::path& path, const TextSplit& split, Index tokens);

  /// Makes the data set from text in memory; `name` stands for the path in messages.
  static TextDataset from_text(std::string_view utf8, const std::string& name, const TextSplit& split, Index tokens);

  Index vocabulary_size() const { return static_cast<Index>(vocabulary_.size()); }
  const std::vector<char32_t>& vocabulary() const { return vocabulary_; }  ///< code point of each id, ascending

  std::span<const int> training() const { return std::span(ids_).first(training_size_); }
  std::span<const int> validation() const { return std::span(ids_).subspan(training_size_, validation_size_); }
  std::span<const int> test() const { return std::span(ids_).subspan(training_size_ + validation_size_); }

  /// Returns the UTF-8 text of ids in [0, vocabulary_size()).
  std::string decode(std::span<const int> ids) const;

  /// Returns the ids of a text (a prompt). UserError for invalid UTF-8 and for a character that the vocabulary lacks.
  std::vector<int> encode(std::string_view utf8) const;

 private:
  std::vector<char32_t> vocabulary_;
  std::vector<int> ids_;
  std::size_t training_size_ = 0, validation_size_ = 0;
};

/// Code points of a UTF-8 text up to its first error, and the place of the error. RFC 3629: no overlong forms, no
/// surrogates, at most U+10FFFF.
struct Utf8Text {
  std::vector<char32_t> code_points;
  std::size_t valid_bytes = 0;  ///< the text's size when all of it is valid, else the offset of the first bad sequence
};

Utf8Text decode_utf8(std::string_view bytes);

/// Calls visit for one code point after the other, without keeping them; returns Utf8Text::valid_bytes.
std::size_t visit_utf8(std::string_view bytes, const std::function<void(char32_t)>& visit);

/// Appends one code point as UTF-8.
void append_utf8(std::string& out, char32_t code_point);

/// Loss of counting alone on held-out characters x_1 … x_n after x_0, in nat per character: a reference for a model's
/// loss. Counts n of the training split (N characters, vocabulary V), add-one smoothed (Laplace's rule of succession),
/// so that what training never showed has a probability:
///     chance  = ln V
///     unigram = −1/n Σ ln (n(x_i) + 1)/(N + V)
///     bigram  = −1/n Σ ln (n(x_{i−1} x_i) + 1)/(n(x_{i−1} ·) + V)
/// A model that ends above `unigram` has learnt nothing beyond letter frequencies.
struct TextEntropy {
  double chance = 0, unigram = 0, bigram = 0;
};

/// Computes the losses of counting. Needs two held-out characters; ids in [0, vocabulary).
TextEntropy text_entropy(std::span<const int> training, std::span<const int> held_out, Index vocabulary);

/// Losses of counting on the held-out parts of a text.
struct TextLines {
  TextEntropy validation;
  std::optional<TextEntropy> test;  ///< losses on the test split; nothing where data.test_fraction = 0
};
TextLines text_lines(const TextDataset& data);

/// Writes /text: split (text), chance, unigram, bigram (nat), a row per part that is held out.
void write_text_lines(const TextLines& lines, H5Document& document);

/// Reads the losses of counting from a file; nothing when it has none.
std::optional<TextLines> read_text_lines(const H5Reader& file);

}  // namespace nudge
