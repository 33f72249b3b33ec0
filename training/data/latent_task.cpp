// SPDX-License-Identifier: Apache-2.0
#include "training/data/latent_task.hpp"
#include "training/data/run_seed.hpp"

#include <fmt/format.h>

#include "mixers/free_transformer/synthetic.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr Index kTokens = SyntheticText::prompt + SyntheticText::body;
constexpr std::uint64_t kTests = std::uint64_t{1} << 40;  ///< numbers of held-out examples start here

/// The target of a token is the next one.
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
