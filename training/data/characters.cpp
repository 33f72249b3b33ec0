// SPDX-License-Identifier: Apache-2.0
#include "training/data/characters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/base/errors.hpp"
#include "training/data/data_options.hpp"
#include "training/data/default_data.hpp"
#include "training/data/raw_array.hpp"

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

Index CharacterTask::samples_that_overlap(bool test) const {
  const auto size = static_cast<Index>((test ? data_.test() : data_.validation()).size());
  const Index windows =
      test ? held_out_.test_batches * held_out_.test_size : held_out_.validation_batches * held_out_.validation_size;
  return std::max<Index>(1, (windows * rows_ + size - 1) / std::max<Index>(1, size));
}

/// Computes 64-bit FNV-1a over the characters.
std::int64_t CharacterTask::fingerprint() const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3ULL; };
  for (const char32_t c : data_.vocabulary()) mix(c);
  for (const int id : data_.training()) mix(static_cast<std::uint64_t>(id));
  for (const int id : data_.validation()) mix(static_cast<std::uint64_t>(id));
  for (const int id : data_.test()) mix(static_cast<std::uint64_t>(id));
  return static_cast<std::int64_t>(hash);
}

namespace {

[[noreturn]] void fail(const std::string& name, const std::string& problem) {
  throw UserError(fmt::format("text file \"{}\": {}", name, problem));
}

void expect_text(std::string_view utf8, std::size_t valid_bytes, const std::string& name) {
  const std::size_t nul = utf8.find('\0');
  if (nul < valid_bytes) fail(name, fmt::format("has a NUL byte at byte {}: a binary file, must be UTF-8 text", nul));
  if (valid_bytes == utf8.size()) return;
  fail(name, fmt::format("is not UTF-8 at byte {} (0x{:02X}); convert it, for example: iconv -f LATIN1 -t UTF-8",
                         valid_bytes, static_cast<unsigned char>(utf8[valid_bytes])));
}

/// Visits the characters of a text one after the other, without the byte order mark, with ends of lines as '\n'. Keeps
/// nothing: the text and its numbers are all of the memory that a data set takes.
void visit_characters(std::string_view utf8, const std::string& name, const std::function<void(char32_t)>& visit) {
  if (utf8.empty()) fail(name, "is empty. Give a text to learn");
  if (utf8.starts_with("\xFF\xFE") || utf8.starts_with("\xFE\xFF")) {
    fail(name, "looks like UTF-16 (byte order mark at byte 0), must be UTF-8; convert it: iconv -f UTF-16 -t UTF-8");
  }
  bool first = true, returned = false;
  const std::size_t valid = visit_utf8(utf8, [&](char32_t code) {
    const bool mark = std::exchange(first, false) && code == 0xFEFF;
    if (mark) return;
    if (returned && code != U'\n') visit(U'\n');
    returned = code == U'\r';
    if (!returned) visit(code);
  });
  if (returned) visit(U'\n');
  expect_text(utf8, valid, name);
}

/// Throws UserError for too many characters: each has a row of the read-out, and its pairs are counted, so memory goes
/// with their number.
void expect_alphabet(const std::string& name, std::size_t characters) {
  constexpr std::size_t kMost = 160000;  // Unicode 16.0 assigns 154,998
  if (characters <= kMost) return;
  fail(name, fmt::format("has {} different characters (at most {}, more than any version of Unicode assigns): this "
                         "is not a text of a language",
                         characters, kMost));
}

/// Throws UserError if a part of the text is too short for a window. have: characters of the part; advice: what else
/// helps.
void check_length(const std::string& name, const char* part, std::size_t have, Index tokens, const char* advice) {
  if (have > static_cast<std::size_t>(tokens)) return;
  fail(name, fmt::format("its {} split has {} characters, but one window of {} tokens and its target needs {}. Use "
                         "a longer data.text, fewer model.tokens or {}",
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

  TextDataset data;
  constexpr std::size_t kCodePoints = 0x110000;
  std::vector<int> id_of(kCodePoints, -1);
  std::size_t length = 0;
  visit_characters(utf8, name, [&](char32_t code) {
    id_of[code] = 0;
    ++length;
  });
  for (std::size_t code = 0; code < kCodePoints; ++code) {
    if (id_of[code] < 0) continue;
    id_of[code] = static_cast<int>(data.vocabulary_.size());
    data.vocabulary_.push_back(static_cast<char32_t>(code));
  }
  expect_alphabet(name, data.vocabulary_.size());
  data.ids_.reserve(length);
  visit_characters(utf8, name, [&](char32_t code) { data.ids_.push_back(id_of[code]); });

  const auto size = static_cast<double>(length);
  data.training_size_ = static_cast<std::size_t>((1 - (split.validation + split.test)) * size);
  data.validation_size_ = length - data.training_size_;
  if (split.test > 0) data.validation_size_ = static_cast<std::size_t>((1 - split.test) * size) - data.training_size_;
  check_length(name, "training", data.training().size(), tokens,
               "a smaller data.validation_fraction or data.test_fraction");
  check_length(name, "validation", data.validation().size(), tokens, "a larger data.validation_fraction");
  if (split.test > 0) check_length(name, "test", data.test().size(), tokens, "a larger data.test_fraction");
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
