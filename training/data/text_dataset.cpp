// SPDX-License-Identifier: Apache-2.0
#include "training/data/text_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "training/data/file_bytes.hpp"
#include "training/data/utf8.hpp"

namespace nudge {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& problem) {
  throw UserError(fmt::format("text file \"{}\": {}", name, problem));
}

/// Code points of a whole text, with the byte order mark and carriage returns gone.
std::vector<char32_t> characters(std::string_view utf8, const std::string& name) {
  if (utf8.empty()) fail(name, "is empty; a text of characters to learn is needed");
  if (utf8.starts_with("\xFF\xFE") || utf8.starts_with("\xFE\xFF")) {
    fail(name, "looks like UTF-16 (byte order mark at byte 0), must be UTF-8; convert it: iconv -f UTF-16 -t UTF-8");
  }
  Utf8Text text = decode_utf8(utf8);
  const std::size_t nul = utf8.find('\0');
  if (nul < text.valid_bytes) {
    fail(name, fmt::format("has a NUL byte at byte {}: a binary file, must be UTF-8 text", nul));
  }
  if (text.valid_bytes < utf8.size()) {
    fail(name, fmt::format("is not UTF-8 at byte {} (0x{:02X}); convert it, for example: iconv -f LATIN1 -t UTF-8",
                           text.valid_bytes, static_cast<unsigned char>(utf8[text.valid_bytes])));
  }
  std::vector<char32_t>& codes = text.code_points;
  const std::size_t begin = codes.front() == 0xFEFF ? 1 : 0;
  std::size_t kept = 0;
  for (std::size_t i = begin; i < codes.size(); ++i) {
    if (codes[i] == U'\r' && i + 1 < codes.size() && codes[i + 1] == U'\n') continue;
    codes[kept++] = codes[i] == U'\r' ? U'\n' : codes[i];
  }
  codes.resize(kept);
  return std::move(text.code_points);
}

void check_length(const std::string& name, const char* part, std::size_t have, Index tokens, const char* advice) {
  if (have > static_cast<std::size_t>(tokens)) return;
  fail(name, fmt::format("its {} part has {} characters, one window of {} tokens and its target needs {}; use a longer "
                         "text, fewer tokens or {}",
                         part, have, tokens, tokens + 1, advice));
}

}  // namespace

TextDataset TextDataset::load(const std::filesystem::path& path, const TextSplit& split, Index tokens) {
  return from_text(read_file_bytes(path, "text"), path.string(), split, tokens);
}

TextDataset TextDataset::from_text(std::string_view utf8, const std::string& name, const TextSplit& split,
                                   Index tokens) {
  if (!(split.validation > 0 && split.validation < 1)) {
    throw UserError(fmt::format("validation fraction = {} (must be > 0 and < 1)", split.validation));
  }
  if (!(split.test >= 0 && split.validation + split.test < 1)) {
    throw UserError(fmt::format("test fraction = {} (must be >= 0, and below 1 together with validation fraction = {})",
                                split.test, split.validation));
  }
  if (tokens < 1) throw UserError(fmt::format("tokens = {} (must be at least 1)", tokens));
  const std::vector<char32_t> text = characters(utf8, name);

  TextDataset data;
  constexpr std::size_t kCodePoints = 0x110000;
  std::vector<int> id_of(kCodePoints, -1);
  for (const char32_t code : text) id_of[code] = 0;
  for (std::size_t code = 0; code < kCodePoints; ++code) {
    if (id_of[code] < 0) continue;
    id_of[code] = static_cast<int>(data.vocabulary_.size());
    data.vocabulary_.push_back(static_cast<char32_t>(code));
  }
  data.ids_.reserve(text.size());
  for (const char32_t code : text) data.ids_.push_back(id_of[code]);

  const auto size = static_cast<double>(text.size());
  data.training_size_ = static_cast<std::size_t>((1 - (split.validation + split.test)) * size);
  data.validation_size_ = text.size() - data.training_size_;
  if (split.test > 0) data.validation_size_ = static_cast<std::size_t>((1 - split.test) * size) - data.training_size_;
  check_length(name, "training", data.training().size(), tokens, "smaller held-out fractions");
  check_length(name, "validation", data.validation().size(), tokens, "a larger validation fraction");
  if (split.test > 0) check_length(name, "test", data.test().size(), tokens, "a larger test fraction");
  return data;
}

std::string TextDataset::decode(std::span<const int> ids) const {
  std::string text;
  for (const int id : ids) {
    NUDGE_EXPECT(id >= 0 && id < vocabulary_size());
    append_utf8(text, vocabulary_[static_cast<std::size_t>(id)]);
  }
  return text;
}

std::vector<int> TextDataset::encode(std::string_view utf8) const {
  const Utf8Text text = decode_utf8(utf8);
  if (text.valid_bytes < utf8.size()) {
    throw UserError(fmt::format("the text to encode is not UTF-8 at byte {}", text.valid_bytes));
  }
  std::vector<int> ids;
  for (const char32_t code : text.code_points) {
    const auto found = std::lower_bound(vocabulary_.begin(), vocabulary_.end(), code);
    if (found == vocabulary_.end() || *found != code) {
      std::string character;
      append_utf8(character, code);
      throw UserError(fmt::format("the character \"{}\" (U+{:04X}) is not among the {} characters of the vocabulary",
                                  character, static_cast<unsigned>(code), vocabulary_.size()));
    }
    ids.push_back(static_cast<int>(found - vocabulary_.begin()));
  }
  return ids;
}

}  // namespace nudge
