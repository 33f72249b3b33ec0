// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "training/data/text_entropy.hpp"

namespace nudge {

/// "text: chance 4.174, unigram 3.345, bigram 2.506 nat on the validation part; …": what counting scores on the same text.
std::string lines_text(const TextLines& lines);

/// " !" behind a loss that is above the unigram line, else nothing; a note that explains it.
std::string unigram_mark(double loss, const std::optional<TextEntropy>& line);
constexpr const char* kUnigramNote = "!: above the unigram line: learnt nothing beyond letter frequencies";

}  // namespace nudge
