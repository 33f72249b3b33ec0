// SPDX-License-Identifier: Apache-2.0
#include "training/data/argmax_task.hpp"
#include "training/data/run_seed.hpp"

#include "sim/base/rng.hpp"

namespace nudge {
namespace {

constexpr double kMargin = 1.0;  ///< Δ and σ of appendix P; ε_j is taken as N(0, σ²) too
constexpr double kDeviation = 0.05;
constexpr std::uint32_t kValues = 1;  ///< entities of the random streams
constexpr std::uint32_t kTestValues = 2;

/// Features (T, D): the raw values; what counts is the last row, whose values are the largest of each channel.
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

}  // namespace nudge
