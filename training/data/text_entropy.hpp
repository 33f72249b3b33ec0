// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/data/text_dataset.hpp"

namespace nudge {

/// What counting alone scores on held-out characters x_1 … x_n after x_0, in nat per character: the yardstick of a loss.
/// Counts n of the training part (N characters, vocabulary V), add-one smoothed (Laplace's rule of succession), so
/// that what training never showed has a probability:
///     chance  = ln V
///     unigram = −1/n Σ ln (n(x_i) + 1)/(N + V)
///     bigram  = −1/n Σ ln (n(x_{i−1} x_i) + 1)/(n(x_{i−1} ·) + V)
/// A model that ends above `unigram` has learnt nothing beyond letter frequencies.
struct TextEntropy {
  double chance = 0, unigram = 0, bigram = 0;
};

/// Needs two held-out characters; ids in [0, vocabulary).
TextEntropy text_entropy(std::span<const int> training, std::span<const int> held_out, Index vocabulary);

/// Of the parts of a text that are held out.
struct TextLines {
  TextEntropy validation;
  std::optional<TextEntropy> test;  ///< nothing where data.test_fraction = 0
};
TextLines text_lines(const TextDataset& data);

/// Writes /text: split (text), chance, unigram, bigram (nat), a row per part that is held out.
void write_text_lines(const TextLines& lines, H5Document& document);

/// The same from a file; nothing when it has none.
std::optional<TextLines> read_text_lines(const H5Reader& file);

}  // namespace nudge
