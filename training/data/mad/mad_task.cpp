// SPDX-License-Identifier: Apache-2.0
#include "training/data/mad/mad_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "training/data/data_options.hpp"

namespace nudge {
namespace {

/// Fewest tokens: a probe of fuzzy_recall and its repetition take 12 tokens, 8 copied tokens with their places 17.
constexpr Index kShortest = 18;

/// Smallest vocabulary: half of it less one are the values of fuzzy_recall, whose motifs have up to three different
/// ones.
constexpr Index kLeastVocabulary = 8;

/// Number of different answers of a kind (mad_task.hpp).
Index answers(MadKind kind, Index vocabulary) {
  switch (kind) {
    case MadKind::in_context_recall: return vocabulary / 2;
    case MadKind::noisy_recall: return (vocabulary - kNoiseTokens) / 2;
    case MadKind::fuzzy_recall: return vocabulary / 2;
    case MadKind::selective_copy: return vocabulary - 2;
    case MadKind::compression: return vocabulary;
    case MadKind::memorization: return vocabulary / 2;
  }
  throw ContractViolation("unknown kind of MAD task");
}

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
  const auto n = static_cast<double>(answers(kind_, sizes_.vocabulary));
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
        fmt::format("model.tokens = {} (task.kind = {} cannot make sequences that are read of as many from its pairs: "
                    "take model.tokens = {})",
                    read, to_string(kind), tokens));
  }
  return sizes;
}

std::unique_ptr<Task> make_mad_task(MadKind kind, const Config& config) {
  return std::make_unique<MadTask>(kind, mad_sizes(kind, config), held_out_sizes(config), run_seed(config));
}

}  // namespace nudge
