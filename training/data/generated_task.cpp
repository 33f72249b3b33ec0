// SPDX-License-Identifier: Apache-2.0
#include "training/data/generated_task.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mixers/free_transformer/synthetic.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "training/data/data_options.hpp"

namespace nudge {

std::vector<std::uint64_t> GeneratedTask::numbers(std::uint64_t step) const {
  const auto size = static_cast<std::uint64_t>(batch_);
  std::vector<std::uint64_t> all;
  all.reserve(size);
  for (std::uint64_t b = 0; b < size; ++b) all.push_back(step * size + b);
  return all;
}

Batch GeneratedTask::training(std::uint64_t step) const {
  const std::vector<std::uint64_t> all = numbers(step);
  Batch batch = blank(static_cast<Index>(all.size()));
  for (std::size_t b = 0; b < all.size(); ++b) write(Split::training, all[b], batch, static_cast<Index>(b));
  return batch;
}

std::vector<Batch> GeneratedTask::held_out(std::uint64_t first, Index batches, Index examples) const {
  std::vector<Batch> all;
  for (Index i = 0; i < batches; ++i) {
    Batch batch = blank(examples);
    for (Index b = 0; b < examples; ++b) write(Split::test, first++, batch, b);
    all.push_back(std::move(batch));
  }
  return all;
}

std::vector<Batch> GeneratedTask::validation() const {
  return held_out(0, held_out_.validation_batches, held_out_.validation_size);
}

std::vector<Batch> GeneratedTask::test() const {
  const auto before = static_cast<std::uint64_t>(held_out_.validation_batches * held_out_.validation_size);
  return held_out(before, held_out_.test_batches, held_out_.test_size);
}

Batch blank_sequences(Index examples, Index tokens) {
  const auto n = static_cast<std::size_t>(examples * tokens);
  return {examples, tokens, std::vector<int>(n), std::vector<int>(n, Batch::kIgnored)};
}

void write_sequence(const std::vector<int>& tokens, const std::vector<int>& targets, Batch& into, Index b) {
  NUDGE_EXPECT(static_cast<Index>(tokens.size()) == into.tokens && targets.size() == tokens.size());
  std::copy(tokens.begin(), tokens.end(), into.indices.begin() + b * into.tokens);
  std::copy(targets.begin(), targets.end(), into.targets.begin() + b * into.tokens);
}

namespace {

constexpr double kMargin = 1.0;  ///< Δ and σ of appendix P; ε_j is taken as N(0, σ²) too
constexpr double kDeviation = 0.05;
constexpr std::uint32_t kValues = 1;  ///< entities of the random streams of argmax
constexpr std::uint32_t kTestValues = 2;

/// Task argmax. Features (T, D) are the raw values; only the last row counts, whose values are the largest of each
/// channel.
class ArgmaxTask final : public GeneratedTask {
 public:
  explicit ArgmaxTask(const Config& config)
      : GeneratedTask(config.integer("train.batch"), held_out_sizes(config)),
        tokens_(config.integer("model.tokens")),
        width_(config.integer("model.channels")),
        seed_(run_seed(config)) {}

  TaskSizes sizes() const override { return {tokens_, 0, 0, width_, width_}; }

 protected:
  Batch blank(Index examples) const override {
    Batch batch{examples, tokens_, {}, {}};
    batch.features = batch.values = Matrix<float>::Zero(examples * tokens_, width_);
    batch.ignored.assign(static_cast<std::size_t>(examples * tokens_), true);
    return batch;
  }
  void write(Split split, std::uint64_t number, Batch& into, Index b) const override {
    auto v = into.features.middleRows(b * tokens_, tokens_);
    const RngKey key{seed_, Purpose::synthetic_data, split == Split::test ? kTestValues : kValues};
    fill_normal<float>(key, number, 0, std::span<float>(v.data(), static_cast<std::size_t>(v.size())));
    v *= static_cast<float>(kDeviation);
    for (Index c = 0; c < v.cols(); ++c) {
      const std::uint64_t winner =
          random_below(static_cast<std::uint64_t>(v.rows()), key, number, 1, static_cast<std::uint32_t>(c));
      v(static_cast<Index>(winner), c) += static_cast<float>(kMargin);
    }
    const Index last = (b + 1) * tokens_ - 1;
    into.values.row(last) = v.colwise().maxCoeff();
    into.ignored[static_cast<std::size_t>(last)] = false;
  }

 private:
  Index tokens_, width_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Task> argmax_task(const Config& config) { return std::make_unique<ArgmaxTask>(config); }

namespace {

constexpr Index kTokens = SyntheticText::prompt + SyntheticText::body;
constexpr std::uint64_t kTests = std::uint64_t{1} << 40;  ///< numbers of held-out examples start here

/// Task latent: the target of a token is the next one.
class LatentTask final : public GeneratedTask {
 public:
  explicit LatentTask(const Config& config)
      : GeneratedTask(config.integer("train.batch"), held_out_sizes(config)), seed_(run_seed(config)) {}

  TaskSizes sizes() const override { return {kTokens, SyntheticText::classes, SyntheticText::classes}; }

 protected:
  Batch blank(Index examples) const override { return blank_sequences(examples, kTokens); }
  void write(Split split, std::uint64_t number, Batch& into, Index b) const override {
    const auto tokens = SyntheticText::sequence(seed_, number + (split == Split::test ? kTests : 0));
    std::vector<int> targets(tokens.begin() + 1, tokens.end());
    targets.push_back(Batch::kIgnored);
    write_sequence(tokens, targets, into, b);
  }

 private:
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Task> latent_task(const Config& config) { return std::make_unique<LatentTask>(config); }

void check_latent_task(const Config& config) {
  if (config.integer("model.tokens") == kTokens) return;
  throw UserError(fmt::format("model.tokens = {} (must be {} for task.kind = latent: the length of its sequences)",
                              config.integer("model.tokens"), kTokens));
}

}  // namespace nudge
