// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sim/base/rng.hpp"
#include "training/experiments/argmax_read.hpp"
#include "training/experiments/task.hpp"

namespace nudge {
namespace {

constexpr double kMargin = 1.0;  ///< Δ and σ of appendix P; ε_j is taken as N(0, σ²) too
constexpr double kDeviation = 0.05;
constexpr std::uint32_t kValues = 1;  ///< entities of the random streams
constexpr std::uint32_t kTestValues = 2;

template <class S>
class ArgmaxTape final : public ExampleTape<S> {
 public:
  ArgmaxTape(const ArgmaxShape& shape, std::uint64_t seed, const std::vector<Matrix<S>>& parameters) : seed_(seed) {
    const NamedValues<S> named = this->bind(argmax_fields(shape), parameters);
    winners_.assign(static_cast<std::size_t>(shape.width), 0);
    values_ = this->tape().constant(Matrix<S>::Zero(shape.tokens, shape.width));
    largest_ = this->tape().constant(Matrix<S>::Zero(1, shape.width));
    load({});
    prediction_ = argmax_read(shape, values_, named, "xb");
    this->set_loss(argmax_error(prediction_, largest_, 1.0 / static_cast<double>(shape.width)));
  }

  void load(const Example& example) override {
    Matrix<S>& v = this->tape().leaf(values_);
    const RngKey key{seed_, Purpose::synthetic_data, example.split == Split::test ? kTestValues : kValues};
    fill_normal<S>(key, example.number, 0, std::span<S>(v.data(), static_cast<std::size_t>(v.size())));
    v *= static_cast<S>(kDeviation);
    for (Index c = 0; c < v.cols(); ++c) {
      const std::uint64_t winner =
          random_below(static_cast<std::uint64_t>(v.rows()), key, example.number, 1, static_cast<std::uint32_t>(c));
      winners_[static_cast<std::size_t>(c)] = static_cast<Index>(winner);
      v(static_cast<Index>(winner), c) += static_cast<S>(kMargin);
    }
    this->tape().leaf(largest_) = v.colwise().maxCoeff();
  }

  /// Channels whose nearest value is that of the winner.
  Index recovered() const {
    const Matrix<S>& v = values_.matrix();
    Index count = 0;
    for (Index c = 0; c < v.cols(); ++c) {
      Index nearest = 0;
      (v.col(c).array() - prediction_.matrix()(0, c)).abs().minCoeff(&nearest);
      count += nearest == winners_[static_cast<std::size_t>(c)] ? 1 : 0;
    }
    return count;
  }

 private:
  std::uint64_t seed_;
  std::vector<Index> winners_;
  Value<S> values_, largest_, prediction_;
};

template <class S>
class Argmax final : public Problem<S> {
 public:
  Argmax(const Config& config, const std::string& variant, std::uint64_t seed)
      : shape_{config.integer("model.tokens"), config.integer("model.channels"), config.integer("model.heads"),
               variant == "fem"},
        batch_(static_cast<std::uint64_t>(config.integer("train.batch"))),
        tests_(static_cast<std::uint64_t>(config.integer("experiment.test_examples"))),
        seed_(seed) {}

  std::vector<Field> fields() const override { return argmax_fields(shape_); }
  std::unique_ptr<ExampleTape<S>> record(const std::vector<Matrix<S>>& parameters) const override {
    return std::make_unique<ArgmaxTape<S>>(shape_, seed_, parameters);
  }
  std::vector<Example> batch(std::uint64_t step) const override {
    std::vector<Example> examples;
    for (std::uint64_t b = 0; b < batch_; ++b) examples.push_back({Split::training, step * batch_ + b});
    return examples;
  }
  std::vector<double> evaluate(TapeBatch<S>& tapes, const std::vector<Matrix<S>>& parameters,
                               typename Problem<S>::When /*when*/) const override {
    std::vector<Example> examples;
    for (std::uint64_t n = 0; n < tests_; ++n) examples.push_back({Split::test, n});
    std::vector<double> losses(examples.size());
    std::vector<double> recovered(examples.size());
    tapes.run(examples, [&](std::size_t i, ExampleTape<S>& tape) {
      losses[i] = tape.loss();
      recovered[i] = static_cast<double>(static_cast<ArgmaxTape<S>&>(tape).recovered());
    });
    double loss = 0;
    double right = 0;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      loss += losses[i];
      right += recovered[i];
    }
    const auto n = static_cast<double>(examples.size());
    double beta = std::nan("");
    if (shape_.free_energy) {
      beta = (parameters.back().array() + S(1.8)).exp().log1p().mean();  // softplus(xb + 1.8), as the read's
    }
    return {loss / n, right / (n * static_cast<double>(shape_.width)), beta};
  }

 private:
  ArgmaxShape shape_;
  std::uint64_t batch_, tests_, seed_;
};

template <class S>
std::unique_ptr<Problem<S>> make(const Config& config, const std::string& variant, std::uint64_t seed) {
  return std::make_unique<Argmax<S>>(config, variant, seed);
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
          [](const Config& config) { return config.integer("train.steps"); },
          make<float>,
          make<double>};
}

}  // namespace nudge
