// SPDX-License-Identifier: Apache-2.0
#include "training/data/text_dataset.hpp"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>

#include "sim/base/errors.hpp"
#include "training/data/item_columns.hpp"

namespace nudge {
namespace {

/// Counts of pairs: a table of all v² where that is small (a nanosecond a character), else of those that occur (some
/// tens).
class PairCounts {
 public:
  explicit PairCounts(std::size_t v) : table_(v <= kMostTabled ? v * v : 0, 0) {}

  void add(std::size_t pair) { table_.empty() ? ++rare_[pair] : ++table_[pair]; }
  double count(std::size_t pair) const {
    if (!table_.empty()) return table_[pair];
    const auto found = rare_.find(pair);
    return found == rare_.end() ? 0 : found->second;
  }

 private:
  static constexpr std::size_t kMostTabled = 2048;  // 16 MB
  std::vector<std::uint32_t> table_;
  std::unordered_map<std::size_t, std::uint32_t> rare_;
};

}  // namespace

TextEntropy text_entropy(std::span<const int> training, std::span<const int> held_out, Index vocabulary) {
  NUDGE_EXPECT(vocabulary >= 1 && held_out.size() >= 2);
  const auto v = static_cast<std::size_t>(vocabulary);
  std::vector<double> single(v, 0), followed(v, 0);
  PairCounts pairs(v);
  for (std::size_t i = 0; i < training.size(); ++i) {
    const auto id = static_cast<std::size_t>(training[i]);
    single[id] += 1;
    if (i + 1 == training.size()) break;
    followed[id] += 1;
    pairs.add(id * v + static_cast<std::size_t>(training[i + 1]));
  }
  const auto size = static_cast<double>(vocabulary);
  TextEntropy out{std::log(size), 0, 0};
  for (std::size_t i = 1; i < held_out.size(); ++i) {
    const auto before = static_cast<std::size_t>(held_out[i - 1]);
    const auto id = static_cast<std::size_t>(held_out[i]);
    out.unigram -= std::log((single[id] + 1) / (static_cast<double>(training.size()) + size));
    out.bigram -= std::log((pairs.count(before * v + id) + 1) / (followed[before] + size));
  }
  const auto n = static_cast<double>(held_out.size() - 1);
  out.unigram /= n;
  out.bigram /= n;
  return out;
}

TextLines text_lines(const TextDataset& data) {
  TextLines lines{text_entropy(data.training(), data.validation(), data.vocabulary_size()), std::nullopt};
  if (!data.test().empty()) lines.test = text_entropy(data.training(), data.test(), data.vocabulary_size());
  return lines;
}

void write_text_lines(const TextLines& lines, H5Document& document) {
  std::vector<std::string> split = {"validation"};
  std::vector<TextEntropy> rows = {lines.validation};
  if (lines.test) {
    split.emplace_back("test");
    rows.push_back(*lines.test);
  }
  document.column("text/split", split, {"1", "held-out split of the text", {"split"}});
  ItemColumns<TextEntropy> to(document, rows, "text", "split");
  const auto letter = [](const char* what) {
    return fmt::format(
        "cross-entropy per character under {} frequencies counted on the training split, add-one smoothed", what);
  };
  to.add("chance", "ln V: every character of the vocabulary equally likely", &TextEntropy::chance, "nat");
  to.add("unigram", letter("letter"), &TextEntropy::unigram, "nat");
  to.add("bigram", letter("pair"), &TextEntropy::bigram, "nat");
}

std::optional<TextLines> read_text_lines(const H5Reader& file) {
  if (!file.has("text/split")) return std::nullopt;
  const auto split = file.texts("text/split", H5Shape{-1});
  const H5Shape shape{static_cast<Index>(split.size())};
  const auto chance = file.reals<double>("text/chance", shape);
  const auto unigram = file.reals<double>("text/unigram", shape);
  const auto bigram = file.reals<double>("text/bigram", shape);
  TextLines lines;
  for (std::size_t i = 0; i < split.size(); ++i) {
    const TextEntropy one{chance[i], unigram[i], bigram[i]};
    if (split[i] == "validation") lines.validation = one;
    if (split[i] == "test") lines.test = one;
  }
  return lines;
}

namespace {

/// Lead byte of a sequence: the length, its own bits, and the smallest code point that may take that many bytes. Length
/// 0: no lead byte.
struct Lead {
  std::size_t length;
  char32_t bits;
  char32_t smallest;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if ((byte & 0xE0) == 0xC0) return {2, byte & 0x1FU, 0x80};
  if ((byte & 0xF0) == 0xE0) return {3, byte & 0x0FU, 0x800};
  if ((byte & 0xF8) == 0xF0) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

}  // namespace

Utf8Text decode_utf8(std::string_view bytes) {
  Utf8Text text;
  text.code_points.reserve(bytes.size());
  text.valid_bytes = visit_utf8(bytes, [&text](char32_t code) { text.code_points.push_back(code); });
  return text;
}

std::size_t visit_utf8(std::string_view bytes, const std::function<void(char32_t)>& visit) {
  std::size_t valid = 0;
  while (valid < bytes.size()) {
    const std::string_view rest = bytes.substr(valid);
    const Lead lead = lead_of(static_cast<unsigned char>(rest[0]));
    if (lead.length == 0 || rest.size() < lead.length) break;
    char32_t code = lead.bits;
    bool continued = true;
    for (std::size_t i = 1; i < lead.length; ++i) {
      const auto byte = static_cast<unsigned char>(rest[i]);
      continued = continued && (byte & 0xC0) == 0x80;
      code = (code << 6) | (byte & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (!continued || code < lead.smallest || surrogate || code > 0x10FFFF) break;
    visit(code);
    valid += lead.length;
  }
  return valid;
}

void append_utf8(std::string& out, char32_t code) {
  const auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80U | ((code >> shift) & 0x3FU))); };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xC0U | (code >> 6)));
    tail(0);
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xE0U | (code >> 12)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0U | (code >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace nudge
