// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "training/config/setup.hpp"
#include "training/data/batches.hpp"
#include "training/data/characters.hpp"
#include "training/experiments/token_task.hpp"

namespace nudge {
namespace {

/// Windows of a text; the number of an example is the step and the place in the batch, or the place among the tests.
class Characters final : public TokenData {
 public:
  Characters(const Config& config, std::uint64_t seed)
      : text_(load_dataset(config)),
        tokens_(config.integer("model.tokens")),
        batch_(static_cast<std::uint64_t>(config.integer("train.batch"))),
        seed_(seed) {
    const Index tests = config.integer("experiment.test_examples");
    tests_ = validation_batches(text_.validation(), 1, tests, tokens_).front();
  }

  Index vocabulary() const override { return text_.vocabulary_size(); }
  Index tokens() const override { return tokens_; }

  void example(const Example& example, std::vector<int>& tokens, std::vector<int>& targets) const override {
    if (example.split == Split::test) {
      copy(tests_, static_cast<Index>(example.number), tokens, targets);
      return;
    }
    const std::uint64_t start = training_start(text_.training(), tokens_, seed_, example.number / batch_,
                                               static_cast<std::uint32_t>(example.number % batch_));
    const auto window = text_.training().subspan(start, static_cast<std::size_t>(tokens_) + 1);
    std::copy(window.begin(), window.end() - 1, tokens.begin());
    std::copy(window.begin() + 1, window.end(), targets.begin());
  }
  std::vector<Example> batch(std::uint64_t step) const override {
    std::vector<Example> examples;
    for (std::uint64_t b = 0; b < batch_; ++b) examples.push_back({Split::training, step * batch_ + b});
    return examples;
  }
  std::vector<Example> tests() const override {
    std::vector<Example> examples;
    for (Index n = 0; n < tests_.sequences; ++n) examples.push_back({Split::test, static_cast<std::uint64_t>(n)});
    return examples;
  }

 private:
  static void copy(const Batch& from, Index b, std::vector<int>& tokens, std::vector<int>& targets) {
    const auto indices = from.indices_of(b);
    const auto next = from.targets_of(b);
    std::copy(indices.begin(), indices.end(), tokens.begin());
    std::copy(next.begin(), next.end(), targets.begin());
  }

  TextDataset text_;
  Index tokens_;
  std::uint64_t batch_, seed_;
  Batch tests_;
};

template <class S>
std::unique_ptr<Problem<S>> make(const Config& config, const std::string& variant, std::uint64_t seed) {
  const auto data = std::make_shared<const Characters>(config, seed);
  return token_problem<S>(sequence_shape(config, variant, *data), data);
}

}  // namespace

/// characters: the next character of a text (data.text), windows of model.tokens as in `nudge train`; tests are
/// experiment.test_examples windows evenly spaced over the validation part.
ExperimentTask characters_task() {
  return {"characters",   "the next character of a text",
          "mixer",        token_measures(),
          mixer_variants, [](const Config& config) { return config.integer("train.steps"); },
          make<float>,    make<double>};
}

}  // namespace nudge
