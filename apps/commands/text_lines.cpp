// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/text_lines.hpp"

#include <fmt/format.h>

namespace nudge {
namespace {

std::string one_text(const TextEntropy& e, const char* part) {
  return fmt::format("unigram {:.4f}, bigram {:.4f} nat on the {} part", e.unigram, e.bigram, part);
}

}  // namespace

std::string lines_text(const TextLines& lines) {
  std::string out = fmt::format("counting alone: chance {:.4f} nat; {}", lines.validation.chance,
                                one_text(lines.validation, "validation"));
  if (lines.test) out += "; " + one_text(*lines.test, "test");
  return out;
}

std::string unigram_mark(double loss, const std::optional<TextEntropy>& line) {
  return line && loss >= line->unigram ? " !" : "";
}

}  // namespace nudge
