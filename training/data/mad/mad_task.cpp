// SPDX-License-Identifier: Apache-2.0
#include "training/data/mad/mad_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "training/data/data_options.hpp"

namespace nudge {
/// Random numbers of one example, one after the other.
class Draws {
 public:
  Draws(std::uint64_t seed, Split split, std::uint64_t number)
      : key_{seed, Purpose::synthetic_data, split == Split::test ? 4U : 3U}, number_(number) {}

  /// Draws a number uniform in [0, n).
  int below(Index n) {
    return static_cast<int>(random_below(static_cast<std::uint64_t>(n), key_, number_, 0, index_++));
  }
  bool one_in(Index n) { return below(n) == 0; }

  /// Draws `count` different numbers of [first, first + n), in random order.
  std::vector<int> different(Index count, int first, Index n) {
    std::vector<int> all;
    all.reserve(n);
    for (Index i = 0; i < n; ++i) all.push_back(first + static_cast<int>(i));
    for (Index i = 0; i < count; ++i) {
      std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(i + below(n - i))]);
    }
    all.resize(static_cast<std::size_t>(count));
    return all;
  }

 private:
  RngKey key_;
  std::uint64_t number_;
  std::uint32_t index_ = 0;
};

namespace {

constexpr Index kLongestMotif = 3;

/// Makes an example with targets: the next token everywhere in training, the tokens marked in `asked` in tests. It
/// reads all but the last token.
MadExample next_token(const std::vector<int>& sequence, const std::vector<bool>& asked, Split split) {
  MadExample example;
  example.tokens.assign(sequence.begin(), sequence.end() - 1);
  for (std::size_t t = 1; t < sequence.size(); ++t) {
    const bool wanted = split == Split::training || asked[t];
    example.targets.push_back(wanted ? sequence[t] : -1);
  }
  return example;
}

/// Makes an example of pairs of key and value, some of them noise.
MadExample recall(const MadSizes& sizes, bool noisy, Split split, Draws draws) {
  const Index kinds = (sizes.vocabulary - (noisy ? kNoiseTokens : 0)) / 2;
  const Index pairs = sizes.tokens / 2 - 1;
  const Index forced = draws.below(pairs);
  std::map<int, int> value_of;
  std::vector<int> sequence;
  std::vector<bool> asked;
  const auto append = [&](int token, bool is_asked) {
    sequence.push_back(token);
    asked.push_back(is_asked);
  };
  for (Index i = 0; i < pairs; ++i) {
    if (noisy && draws.one_in(5) && i != forced) {
      for (int n = 0; n < 2; ++n) append(static_cast<int>(2 * kinds) + draws.below(kNoiseTokens), false);
      continue;
    }
    const int key = draws.below(kinds);
    const bool known = value_of.count(key) > 0;
    if (!known) value_of[key] = static_cast<int>(kinds) + draws.below(kinds);
    append(key, false);
    append(value_of[key], known);
  }
  auto probe = value_of.begin();
  std::advance(probe, draws.below(static_cast<Index>(value_of.size())));
  append(probe->first, false);
  append(probe->second, true);
  return next_token(sequence, asked, split);
}

struct Motifs {
  std::vector<int> key;
  std::vector<int> value;
  Index size() const { return static_cast<Index>(key.size() + value.size()); }
};

MadExample fuzzy_recall(const MadSizes& sizes, Split split, Draws draws) {
  const int pad = static_cast<int>(sizes.vocabulary) - 1;
  const Index keys = sizes.vocabulary / 2 - 1;
  const Index values = sizes.vocabulary / 2;
  std::map<std::vector<int>, std::vector<int>> value_of;
  const auto pair = [&] {
    const Index key_size = split == Split::training ? 1 + draws.below(kLongestMotif) : kLongestMotif;
    Motifs motifs{draws.different(key_size, 0, keys), {}};
    const auto known = value_of.find(motifs.key);
    motifs.value = known != value_of.end()
                       ? known->second
                       : draws.different(1 + draws.below(kLongestMotif), static_cast<int>(keys), values);
    value_of[motifs.key] = motifs.value;
    return motifs;
  };
  const Motifs probe = pair();
  std::vector<Motifs> slots;
  Index length = probe.size();  // the probe among them
  while (length < sizes.tokens - probe.size() - 2 * kLongestMotif) {
    slots.push_back(pair());
    length += slots.back().size();
  }
  slots.insert(slots.begin() + draws.below(static_cast<Index>(slots.size()) + 1), probe);
  slots.push_back(probe);
  length += probe.size();
  NUDGE_EXPECT(length <= sizes.tokens + 1);
  std::vector<int> sequence(static_cast<std::size_t>(sizes.tokens + 1 - length), pad);
  std::vector<bool> asked(sequence.size(), false);
  std::set<std::vector<int>> seen;
  for (const Motifs& motifs : slots) {
    const bool known = !seen.insert(motifs.key).second;
    sequence.insert(sequence.end(), motifs.key.begin(), motifs.key.end());
    asked.insert(asked.end(), motifs.key.size(), false);
    sequence.insert(sequence.end(), motifs.value.begin(), motifs.value.end());
    asked.insert(asked.end(), motifs.value.size(), known);
  }
  MadExample example = next_token(sequence, asked, split);
  for (int& target : example.targets) target = target == pad ? -1 : target;
  return example;
}

Index tokens_to_copy(const MadSizes& sizes) { return std::clamp<Index>(sizes.tokens / 16, 8, 16); }

MadExample selective_copy(const MadSizes& sizes, Draws draws) {
  const Index n = tokens_to_copy(sizes);
  const int copy = static_cast<int>(sizes.vocabulary) - 1;
  const int blank = copy - 1;
  std::vector<int> wanted;
  wanted.reserve(n);
  for (Index i = 0; i < n; ++i) wanted.push_back(draws.below(blank));
  std::vector<Index> blanks_before(static_cast<std::size_t>(n), 0);
  for (Index b = 0; b < sizes.tokens - 2 * n - 1; ++b) ++blanks_before[static_cast<std::size_t>(draws.below(n))];
  MadExample example;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    example.tokens.insert(example.tokens.end(), static_cast<std::size_t>(blanks_before[i]), blank);
    example.tokens.push_back(wanted[i]);
  }
  example.tokens.push_back(copy);
  example.tokens.insert(example.tokens.end(), wanted.size(), blank);
  example.targets.assign(example.tokens.size() - wanted.size(), -1);
  example.targets.insert(example.targets.end(), wanted.begin(), wanted.end());
  return example;
}

MadExample compression(const MadSizes& sizes, Draws draws) {
  MadExample example;
  for (Index t = 0; t + 1 < sizes.tokens; ++t) example.tokens.push_back(draws.below(sizes.vocabulary - 1));
  example.tokens.push_back(static_cast<int>(sizes.vocabulary) - 1);
  example.targets = example.tokens;
  return example;
}

MadExample memorization(const MadSizes& sizes, std::uint64_t seed, Draws draws) {
  const Index keys = sizes.vocabulary / 2 - 1;
  const Index values = sizes.vocabulary / 2;
  const auto value_of = Draws(seed, Split::training, ~std::uint64_t{0}).different(keys, static_cast<int>(keys), values);
  MadExample example;
  for (Index i = 0; i < sizes.tokens / 2; ++i) {
    const int key = draws.below(keys);
    example.tokens.push_back(key);
    example.tokens.push_back(static_cast<int>(sizes.vocabulary) - 1);
    example.targets.push_back(-1);
    example.targets.push_back(value_of[static_cast<std::size_t>(key)]);
  }
  return example;
}

/// A kind: its name, published sizes, number of different answers (mad_task.hpp) and generator.
struct MadRow {
  const char* name;
  MadSizes published;
  Index (*answers)(Index vocabulary);
  MadExample (*make)(const MadSizes& sizes, std::uint64_t seed, Split split, const Draws& draws);
};

const MadRow& row_of(MadKind kind) {
  using Seed = std::uint64_t;
  static const MadRow rows[] = {
      {"in_context_recall",
       {16, 128, 12800, 1280, 200, 128},
       [](Index v) { return v / 2; },
       [](const MadSizes& s, Seed, Split split, const Draws& d) { return recall(s, false, split, d); }},
      {"noisy_recall",
       {32, 128, 12800, 1280, 200, 128},
       [](Index v) { return (v - kNoiseTokens) / 2; },
       [](const MadSizes& s, Seed, Split split, const Draws& d) { return recall(s, true, split, d); }},
      {"fuzzy_recall",
       {16, 128, 12800, 1280, 200, 128},
       [](Index v) { return v / 2; },
       [](const MadSizes& s, Seed, Split split, const Draws& d) { return fuzzy_recall(s, split, d); }},
      {"selective_copy",
       {16, 256, 12800, 1280, 200, 128},
       [](Index v) { return v - 2; },
       [](const MadSizes& s, Seed, Split, const Draws& d) { return selective_copy(s, d); }},
      {"compression",
       {16, 32, 12800, 1280, 200, 128},
       [](Index v) { return v; },
       [](const MadSizes& s, Seed, Split, const Draws& d) { return compression(s, d); }},
      {"memorization",
       {256, 32, 256, 1280, 200, 128},
       [](Index v) { return v / 2; },
       [](const MadSizes& s, Seed seed, Split, const Draws& d) { return memorization(s, seed, d); }}};
  return rows[static_cast<std::size_t>(kind)];
}

}  // namespace

const char* to_string(MadKind kind) { return row_of(kind).name; }

MadSizes published_sizes(MadKind kind) { return row_of(kind).published; }

MadExample mad_example(MadKind kind, const MadSizes& sizes, std::uint64_t seed, Split split, std::uint64_t number) {
  return row_of(kind).make(sizes, seed, split, Draws(seed, split, number));
}

namespace {

/// Fewest tokens: a probe of fuzzy_recall and its repetition take 12 tokens, 8 copied tokens with their places 17.
constexpr Index kShortest = 18;

/// Smallest vocabulary: half of it less one are the values of fuzzy_recall, whose motifs have up to three different
/// ones.
constexpr Index kLeastVocabulary = 8;

Index checked_tokens(MadKind kind, const MadSizes& sizes, std::uint64_t seed) {
  if (sizes.tokens < kShortest) {
    throw UserError(fmt::format("{}: tokens = {} (must be at least {})", to_string(kind), sizes.tokens, kShortest));
  }
  return static_cast<Index>(mad_example(kind, sizes, seed, Split::training, 0).tokens.size());
}

}  // namespace

MadTask::MadTask(MadKind kind, const MadSizes& sizes, const HeldOutSizes& held_out, std::uint64_t seed)
    : GeneratedTask(sizes.batch, held_out),
      kind_(kind),
      sizes_(sizes),
      seed_(seed),
      tokens_(checked_tokens(kind, sizes, seed)) {}

std::optional<ReferenceScores> MadTask::references(const ReferenceRequest& request) const {
  if (!request.wants("chance")) return std::nullopt;
  const auto n = static_cast<double>(row_of(kind_).answers(sizes_.vocabulary));
  ReferenceScores scores;
  scores.metric = "accuracy";
  scores.loss_unit = "nat";
  for (const char* split : {"validation", "test"}) scores.rows.push_back({"chance", split, std::log(n), 1 / n});
  return scores;
}

void MadTask::write(Split split, std::uint64_t number, Batch& into, Index b) const {
  const MadExample made = mad_example(kind_, sizes_, seed_, split, number);
  write_sequence(made.tokens, made.targets, into, b);
}

std::vector<std::uint64_t> MadTask::numbers(std::uint64_t step) const {
  const auto per_epoch = static_cast<std::uint64_t>(steps_per_epoch(sizes_));
  std::vector<std::uint64_t> order(static_cast<std::size_t>(sizes_.examples));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const RngKey key{seed_, Purpose::batch_order, 1};
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const std::uint64_t j = random_below(order.size() - i, key, step / per_epoch, 0, static_cast<std::uint32_t>(i));
    std::swap(order[i], order[i + static_cast<std::size_t>(j)]);
  }
  const auto size = static_cast<std::size_t>(sizes_.batch);
  const std::size_t begin = static_cast<std::size_t>(step % per_epoch) * size;
  const std::size_t end = std::min(begin + size, order.size());
  return {order.begin() + static_cast<std::ptrdiff_t>(begin), order.begin() + static_cast<std::ptrdiff_t>(end)};
}

Index steps_per_epoch(const MadSizes& sizes) { return (sizes.examples + sizes.batch - 1) / sizes.batch; }

MadSizes mad_sizes(MadKind kind, const Config& config) {
  const auto read = static_cast<Index>(config.integer("model.tokens"));
  const auto seed = run_seed(config);
  if (read < kShortest) {
    throw UserError(
        fmt::format("model.tokens = {} (must be at least {} for task.kind = {})", read, kShortest, to_string(kind)));
  }
  MadSizes sizes = published_sizes(kind);
  const DataOptions options = data_options(config);
  if (options.vocabulary != 0) sizes.vocabulary = options.vocabulary;
  if (const Index least = kLeastVocabulary + (kind == MadKind::noisy_recall ? kNoiseTokens : 0);
      sizes.vocabulary < least || sizes.vocabulary % 2 != 0) {
    throw UserError(fmt::format("task.vocabulary = {} (task.kind = {} needs an even number from {})", sizes.vocabulary,
                                to_string(kind), least));
  }
  sizes.tokens = read;
  sizes.examples = options.examples;
  sizes.batch = config.integer("train.batch");
  if (checked_tokens(kind, sizes, seed) < read) ++sizes.tokens;  // the last token is asked for and not read
  if (const Index tokens = checked_tokens(kind, sizes, seed); tokens != read) {
    throw UserError(
        fmt::format("model.tokens = {} (task.kind = {} makes its sequences of pairs and cannot have this length: "
                    "use model.tokens = {})",
                    read, to_string(kind), tokens));
  }
  return sizes;
}

std::unique_ptr<Task> make_mad_task(MadKind kind, const Config& config) {
  return std::make_unique<MadTask>(kind, mad_sizes(kind, config), held_out_sizes(config), run_seed(config));
}

}  // namespace nudge
