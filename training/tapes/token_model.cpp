// SPDX-License-Identifier: Apache-2.0
#include "training/tapes/token_model.hpp"

#include <algorithm>

#include "mixers/ops/arithmetic.hpp"
#include "mixers/ops/cross_entropy.hpp"
#include "sim/base/errors.hpp"
#include "training/models/mixer_keys.hpp"

namespace nudge {
namespace {

template <class S>
class TokenTape final : public ExampleTape<S> {
 public:
  TokenTape(const SequenceShape& shape, const std::vector<Field>& fields, const std::vector<Matrix<S>>& parameters)
      : tokens_(std::make_shared<std::vector<int>>(static_cast<std::size_t>(shape.tokens))),
        targets_(std::make_shared<std::vector<int>>(static_cast<std::size_t>(shape.tokens))) {
    const NamedValues<S> named = this->bind(fields, parameters);
    share_ = this->tape().constant(Matrix<S>::Ones(1, 1));
    logits_ = sequence_logits<S>(this->tape(), shape, named, tokens_);
    this->set_loss(cross_entropy<S>(logits_, SharedIndices(targets_)) * share_);
  }

  void load(const Batch& batch, Index b, const ExampleId& /*id*/) override {
    const auto tokens = batch.indices_of(b), targets = batch.targets_of(b);
    std::copy(tokens.begin(), tokens.end(), tokens_->begin());
    std::copy(targets.begin(), targets.end(), targets_->begin());
    const Index asked = batch.counted(b);
    NUDGE_EXPECT(asked > 0);
    this->tape().leaf(share_)(0, 0) = S(1) / static_cast<S>(asked);
  }

  const std::vector<int>& targets() const { return *targets_; }
  const Matrix<S>& logits() const { return logits_.matrix(); }

 private:
  std::shared_ptr<std::vector<int>> tokens_, targets_;
  Value<S> share_, logits_;
};

/// Right and asked targets per class, and the summed cross-entropy, of one test example.
struct Score {
  double loss = 0;
  std::vector<std::pair<int, bool>> answers;  ///< class, right
};

template <class S>
Score score_of(TokenTape<S>& tape) {
  Score score;
  for (std::size_t t = 0; t < tape.targets().size(); ++t) {
    const int target = tape.targets()[t];
    if (target < 0) continue;
    Index best = 0;
    tape.logits().row(static_cast<Index>(t)).maxCoeff(&best);
    score.answers.emplace_back(target, best == target);
  }
  score.loss = tape.loss() * static_cast<double>(score.answers.size());
  return score;
}

std::vector<double> summarise(const std::vector<Score>& scores, Index classes) {
  std::vector<double> asked(static_cast<std::size_t>(classes)), right(asked);
  double loss = 0;
  for (const Score& score : scores) {
    loss += score.loss;
    for (const auto& answer : score.answers) {
      asked[static_cast<std::size_t>(answer.first)] += 1;
      right[static_cast<std::size_t>(answer.first)] += answer.second ? 1 : 0;
    }
  }
  double all_asked = 0, all_right = 0, shares = 0, occurring = 0;
  for (std::size_t c = 0; c < asked.size(); ++c) {
    all_asked += asked[c];
    all_right += right[c];
    if (asked[c] == 0) continue;
    shares += right[c] / asked[c];
    occurring += 1;
  }
  return {loss / all_asked, all_right / all_asked, shares / occurring};
}

template <class S>
class TokenModel final : public TapeModel<S> {
 public:
  explicit TokenModel(const SequenceShape& shape) : shape_(shape), fields_(sequence_fields(shape)) {}

  std::vector<Field> fields() const override { return fields_; }
  std::unique_ptr<ExampleTape<S>> record(const std::vector<Matrix<S>>& parameters) const override {
    return std::make_unique<TokenTape<S>>(shape_, fields_, parameters);
  }
  std::vector<double> evaluate(TapeBatch<S>& tapes, const std::vector<Batch>& batches,
                               const std::vector<Matrix<S>>& /*parameters*/,
                               typename TapeModel<S>::When /*when*/) const override {
    Index examples = 0;
    for (const Batch& batch : batches) examples += batch.sequences;
    std::vector<Score> scores(static_cast<std::size_t>(examples));
    tapes.run(batches,
              [&](std::size_t i, ExampleTape<S>& tape) { scores[i] = score_of(static_cast<TokenTape<S>&>(tape)); });
    return summarise(scores, shape_.vocabulary);
  }

 private:
  SequenceShape shape_;
  std::vector<Field> fields_;
};

}  // namespace

SequenceShape sequence_shape(const Config& config, const std::string& mixer, const TaskSizes& sizes, Readout readout) {
  SequenceShape shape;
  shape.vocabulary = sizes.symbols;
  shape.tokens = sizes.rows;
  shape.width = config.integer("model.channels");
  shape.heads = config.integer("model.heads");
  shape.blocks = config.integer("experiment.blocks");
  shape.inner = config.integer("experiment.inner");
  shape.embedding_scale = config.real("model.embedding_scale");
  shape.mixer = mixer;
  shape.choice = sequence_choice(config, mixer, shape.width, shape.heads, shape.tokens);
  shape.readout = readout;
  return shape;
}

template <class S>
std::unique_ptr<TapeModel<S>> token_model(const SequenceShape& shape) {
  return std::make_unique<TokenModel<S>>(shape);
}

const std::vector<Measure>& token_measures() {
  static const std::vector<Measure> measures = {
      {"validation_loss", "nat", "mean cross-entropy per target on the test examples"},
      {"accuracy", "1", "share of test targets that are the likeliest token"},
      {"macro_accuracy", "1", "mean of that share over the classes that occur among the targets"}};
  return measures;
}

std::vector<std::string> mixer_variants(const Config& config) {
  const auto& mixers = config.texts("experiment.mixers");
  if (mixers.empty()) throw UserError("experiment.mixers is empty (name one mixer)");
  return mixers;
}

template std::unique_ptr<TapeModel<float>> token_model<float>(const SequenceShape&);
template std::unique_ptr<TapeModel<double>> token_model<double>(const SequenceShape&);

}  // namespace nudge
