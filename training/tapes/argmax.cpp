// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sim/base/rng.hpp"
#include "training/data/generated_task.hpp"
#include "training/tapes/argmax_read.hpp"
#include "training/tapes/experiment_task.hpp"

namespace nudge {
namespace {

constexpr double kMargin = 1.0;  ///< Δ and σ of appendix P; ε_j is taken as N(0, σ²) too
constexpr double kDeviation = 0.05;
constexpr std::uint32_t kValues = 1;  ///< entities of the random streams
constexpr std::uint32_t kTestValues = 2;

/// Features (T, D): the raw values; what counts is the last row, whose values are the largest of each channel.
class ArgmaxData final : public GeneratedTask {
 public:
  ArgmaxData(const Config& config, std::uint64_t seed)
      : GeneratedTask(config.integer("train.batch"), experiment_held_out(config)),
        tokens_(config.integer("model.tokens")),
        width_(config.integer("model.channels")),
        seed_(seed) {}

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

template <class S>
class ArgmaxTape final : public ExampleTape<S> {
 public:
  ArgmaxTape(const ArgmaxShape& shape, const std::vector<Matrix<S>>& parameters) {
    const NamedValues<S> named = this->bind(argmax_fields(shape), parameters);
    values_ = this->tape().constant(Matrix<S>::Zero(shape.tokens, shape.width));
    largest_ = this->tape().constant(Matrix<S>::Zero(1, shape.width));
    prediction_ = argmax_read(shape, values_, named, "xb");
    this->set_loss(argmax_error(prediction_, largest_, 1.0 / static_cast<double>(shape.width)));
  }

  void load(const Batch& batch, Index b, const ExampleId& /*id*/) override {
    this->tape().leaf(values_) = batch.features_of(b).template cast<S>();
    this->tape().leaf(largest_) = batch.values_of(b).bottomRows(1).template cast<S>();
  }

  /// Channels whose nearest value is that of the winner: the largest, by a margin of 20 deviations.
  Index recovered() const {
    const Matrix<S>& v = values_.matrix();
    Index count = 0;
    for (Index c = 0; c < v.cols(); ++c) {
      Index nearest = 0, winner = 0;
      (v.col(c).array() - prediction_.matrix()(0, c)).abs().minCoeff(&nearest);
      v.col(c).maxCoeff(&winner);
      count += nearest == winner ? 1 : 0;
    }
    return count;
  }

 private:
  Value<S> values_, largest_, prediction_;
};

template <class S>
class ArgmaxModel final : public TapeModel<S> {
 public:
  explicit ArgmaxModel(const ArgmaxShape& shape) : shape_(shape) {}

  std::vector<Field> fields() const override { return argmax_fields(shape_); }
  std::unique_ptr<ExampleTape<S>> record(const std::vector<Matrix<S>>& parameters) const override {
    return std::make_unique<ArgmaxTape<S>>(shape_, parameters);
  }
  std::vector<double> evaluate(TapeBatch<S>& tapes, const std::vector<Batch>& batches,
                               const std::vector<Matrix<S>>& parameters,
                               typename TapeModel<S>::When /*when*/) const override {
    Index examples = 0;
    for (const Batch& batch : batches) examples += batch.sequences;
    std::vector<double> losses(static_cast<std::size_t>(examples));
    std::vector<double> recovered(losses);
    tapes.run(batches, [&](std::size_t i, ExampleTape<S>& tape) {
      losses[i] = tape.loss();
      recovered[i] = static_cast<double>(static_cast<ArgmaxTape<S>&>(tape).recovered());
    });
    double loss = 0;
    double right = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      loss += losses[i];
      right += recovered[i];
    }
    const auto n = static_cast<double>(losses.size());
    double beta = std::nan("");
    if (shape_.free_energy) {
      beta = static_cast<double>(
          (parameters.back().array() + S(1.8)).exp().log1p().mean());  // softplus(xb + 1.8), as the read's
    }
    return {loss / n, right / (n * static_cast<double>(shape_.width)), beta};
  }

 private:
  ArgmaxShape shape_;
};

template <class S>
std::unique_ptr<TapeModel<S>> make(const Config& config, const std::string& variant, const TaskSizes& sizes,
                                   std::uint64_t /*seed*/) {
  return std::make_unique<ArgmaxModel<S>>(
      ArgmaxShape{sizes.rows, sizes.features, config.integer("model.heads"), variant == "fem"});
}

}  // namespace

/// argmax: each channel of T = model.tokens values has one winner that is 1 larger (noise σ = 0.05 everywhere); the last
/// token must give every channel's largest value (appendix P of Lu & Yang, "Free Energy Mixer"). A single convex
/// read cannot. Data are drawn on the fly; squared error; variants softmax and fem see the same batches.
ExperimentTask argmax_task() {
  return {"argmax",
          "the largest value of every channel, read at once",
          "read",
          {{"validation_loss", "1", "mean squared error per channel on the test examples"},
           {"index_accuracy", "1", "share of channels whose prediction is nearest to the winner's value"},
           {"beta", "1", "mean inverse temperature β over the channels"}},
          [](const Config&) {
            return std::vector<std::string>{"softmax", "fem"};
          },
          train_steps,
          [](const Config& config, std::uint64_t seed) -> std::unique_ptr<Task> {
            return std::make_unique<ArgmaxData>(config, seed);
          },
          make<float>,
          make<double>};
}

}  // namespace nudge
