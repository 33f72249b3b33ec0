// SPDX-License-Identifier: Apache-2.0
#include "training/data/text_dataset.hpp"

#include <cmath>
#include <unordered_map>

#include "sim/base/errors.hpp"

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
  const auto column = [&](const char* name, double TextEntropy::*member, const char* description) {
    std::vector<double> values;
    values.reserve(rows.size());
    for (const TextEntropy& row : rows) values.push_back(row.*member);
    document.column(std::string("text/") + name, std::move(values), {"nat", description, {"split"}});
  };
  document.column("text/split", split, {"1", "held-out part of the text", {"split"}});
  column("chance", &TextEntropy::chance, "ln V: every character of the vocabulary equally likely");
  column("unigram", &TextEntropy::unigram,
         "cross-entropy per character under letter frequencies counted on the training part, add-one smoothed");
  column("bigram", &TextEntropy::bigram,
         "cross-entropy per character under pair frequencies counted on the training part, add-one smoothed");
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

}  // namespace nudge
