// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <numbers>

#include "mixers/free_transformer/generate.hpp"
#include "mixers/free_transformer/synthetic.hpp"
#include "mixers/ops/arithmetic.hpp"
#include "mixers/ops/cross_entropy.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "training/data/generated_task.hpp"
#include "training/tapes/bit_source.hpp"
#include "training/tapes/experiment_task.hpp"
#include "training/tapes/latent_agreement.hpp"

namespace nudge {
namespace {

constexpr Index kTokens = SyntheticText::prompt + SyntheticText::body;
constexpr std::uint64_t kTests = std::uint64_t{1} << 40;      ///< numbers of test examples start here
constexpr std::uint64_t kGenerated = std::uint64_t{1} << 41;  ///< and of generated ones here

/// The sequences, the target of a token is the next one.
class SyntheticTextData final : public GeneratedTask {
 public:
  SyntheticTextData(const Config& config, std::uint64_t seed)
      : GeneratedTask(config.integer("train.batch"), experiment_held_out(config)), seed_(seed) {}

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

template <class S>
class LatentTape final : public ExampleTape<S> {
 public:
  LatentTape(const Config& config, const FreeTransformerShape& shape, double kappa, std::uint64_t seed,
             const std::vector<Matrix<S>>& parameters)
      : sampler_(make_bit_source<S>(config, seed)),
        tokens_(std::make_shared<std::vector<int>>(static_cast<std::size_t>(kTokens))),
        targets_(std::make_shared<std::vector<int>>(tokens_->size(), Batch::kIgnored)),
        named_(this->bind(free_transformer_fields(shape), parameters)) {
    sampler_->select(0, 0);
    const FreeTransformer<S> model(shape, named_);
    const Value<S> x = model.lower_half(SharedIndices(tokens_));
    const Value<S> bits = model.encode(x);
    logits_ = model.upper_half(x, model.latent(bits, sampler_));
    cross_entropy_ = affine(cross_entropy(logits_, SharedIndices(targets_)), 1.0 / static_cast<double>(kTokens - 1));
    information_ = latent_information(bits);
    this->set_loss(cross_entropy_ + free_bits(information_, kappa));
  }

  void load(const Batch& batch, Index b, const ExampleId& id) override {
    const auto tokens = batch.indices_of(b), targets = batch.targets_of(b);
    std::copy(tokens.begin(), tokens.end(), tokens_->begin());
    std::copy(targets.begin(), targets.end(), targets_->begin());
    sampler_->select(id.number, id.split == Split::test ? 1 : 0);
  }
  double cross_entropy_nat() const { return static_cast<double>(cross_entropy_.matrix()(0, 0)); }
  ToldBits told() const { return told_bits(logits_.matrix(), *tokens_); }
  double information_bits() const { return static_cast<double>(information_.matrix().mean()) / std::numbers::ln2; }

 private:
  std::shared_ptr<BitSampler<S>> sampler_;
  std::shared_ptr<std::vector<int>> tokens_, targets_;
  NamedValues<S> named_;
  Value<S> logits_, cross_entropy_, information_;
};

FreeTransformerShape shape_of(const Config& config) {
  FreeTransformerShape shape;
  shape.width = config.integer("model.channels");
  shape.heads = config.integer("model.heads");
  shape.layers = config.integer("experiment.blocks");
  const auto inner = config.integer("experiment.inner");
  shape.inner = shape.encoder_inner = inner > 0 ? inner : (8 * shape.width / 3 + 31) / 32 * 32;
  shape.vocabulary = SyntheticText::classes;
  shape.bits = config.integer("experiment.bits");
  return shape;
}

template <class S>
class LatentModel final : public TapeModel<S> {
 public:
  LatentModel(const Config& config, const std::string& kappa_bits, std::uint64_t seed)
      : config_(config), shape_(shape_of(config)), kappa_(std::stod(kappa_bits) * std::numbers::ln2), seed_(seed) {}

  std::vector<Field> fields() const override { return free_transformer_fields(shape_); }
  std::unique_ptr<ExampleTape<S>> record(const std::vector<Matrix<S>>& parameters) const override {
    return std::make_unique<LatentTape<S>>(config_, shape_, kappa_, seed_, parameters);
  }
  std::vector<double> evaluate(TapeBatch<S>& tapes, const std::vector<Batch>& batches,
                               const std::vector<Matrix<S>>& parameters,
                               typename TapeModel<S>::When when) const override {
    Index examples = 0;
    for (const Batch& batch : batches) examples += batch.sequences;
    std::vector<std::array<double, 4>> each(static_cast<std::size_t>(examples));
    tapes.run(batches, [&](std::size_t i, ExampleTape<S>& tape) {
      const auto& one = static_cast<LatentTape<S>&>(tape);
      const ToldBits told = one.told();
      each[i] = {one.cross_entropy_nat(), one.information_bits(), told.place, told.noise};
    });
    std::vector<double> measured(4, 0);
    for (const auto& one : each) {
      for (std::size_t m = 0; m < 4; ++m) measured[m] += one[m] / static_cast<double>(each.size());
    }
    measured.resize(12, std::numeric_limits<double>::quiet_NaN());
    if (when == TapeModel<S>::When::finished) generate_pairs(parameters, measured);
    return measured;
  }

 private:
  /// A sequence from a letter's prompt and latent bits that are fair coins of the source, by number.
  std::vector<int> sample(const std::vector<Matrix<S>>& parameters, int letter, std::uint64_t latent,
                          std::uint64_t tokens) const {
    const auto source = make_bit_source<S>(config_, seed_);
    source->select(kGenerated + latent, 0);
    return generate<S>(shape_, parameters, {letter, SyntheticText::end_of_prompt},
                       prior_latents<S>(kTokens, shape_.bits, *source), 1.0, seed_, static_cast<std::uint32_t>(tokens));
  }

  void generate_pairs(const std::vector<Matrix<S>>& parameters, std::vector<double>& measured) const {
    const Index n = config_.integer("experiment.pairs");
    std::vector<SequencePair> shared(static_cast<std::size_t>(n)), independent(shared);
    parallel_for(n, static_cast<int>(config_.integer("threads")), [&](Index i, int /*thread*/) {
      const auto k = static_cast<std::uint64_t>(i);
      const auto letter = static_cast<int>(i % SyntheticText::blank);
      const auto one = sample(parameters, letter, 2 * k, 3 * k);
      shared[static_cast<std::size_t>(i)] = {one, sample(parameters, letter, 2 * k, 3 * k + 1)};
      independent[static_cast<std::size_t>(i)] = {one, sample(parameters, letter, 2 * k + 1, 3 * k + 2)};
    });
    const Agreement with = agreement(shared);
    const Agreement without = agreement(independent);
    std::vector<std::vector<int>> all;
    for (std::size_t i = 0; i < shared.size(); ++i) {
      for (const auto* each : {&shared[i].first, &shared[i].second, &independent[i].second}) all.push_back(*each);
    }
    const SyntheticStatistics statistics = synthetic_statistics(all);
    const std::vector<double> generated = {with.place,
                                           without.place,
                                           with.distance,
                                           without.distance,
                                           with.noise,
                                           without.noise,
                                           statistics.whole_targets * statistics.right_letters,
                                           statistics.noise};
    std::copy(generated.begin(), generated.end(), measured.begin() + 4);
  }

  Config config_;
  FreeTransformerShape shape_;
  double kappa_;
  std::uint64_t seed_;
};

template <class S>
std::unique_ptr<TapeModel<S>> make(const Config& config, const std::string& variant, const TaskSizes& /*sizes*/,
                                   std::uint64_t seed) {
  return std::make_unique<LatentModel<S>>(config, variant, seed);
}

}  // namespace

/// free_transformer: the Free Transformer on its synthetic sequences, a variant per free bits κ of experiment.kappa. The
/// loss is the mean cross-entropy per token plus the free-bits penalty per token. What Z carries shows twice: in the bits
/// that the encoder's Z spares the decoder on a test sequence's place and noise, and in what sequences generated from one
/// prompt with the same Z from the prior have in common, against independent Z; and in the share of generated sequences
/// that follow the rules.
ExperimentTask free_transformer_task() {
  return {"free_transformer",
          "what the latent of a Free Transformer holds",
          "kappa",
          {{"validation_loss", "nat", "mean cross-entropy per token given the encoder's Z"},
           {"information", "bit", "mean KL divergence per token of the encoder's bits from fair coins"},
           {"place_told", "bit", "what Z tells the decoder of a sequence's target's place: of 5.83"},
           {"noise_told", "bit", "what it tells of its noise: of 21.59"},
           {"place_shared", "1", "correlation of the targets' places in pairs generated with the same Z"},
           {"place_independent", "1", "the same with independent Z: 0 by chance"},
           {"distance_shared", "1", "mean distance of the targets in pairs generated with the same Z"},
           {"distance_independent", "1", "the same with independent Z: 19 by chance"},
           {"noise_shared", "1", "correlation of the noise in pairs generated with the same Z"},
           {"noise_independent", "1", "the same with independent Z: 0 by chance"},
           {"right", "1", "share of generated sequences with one whole target of the prompt's letter"},
           {"noise", "1", "share of noise among generated characters, 1/16 in the data"}},
          [](const Config& config) {
            std::vector<std::string> variants;
            for (const double kappa : config.reals("experiment.kappa")) {
              variants.push_back(format_quantity(kappa, Unit::none));
            }
            if (variants.empty()) throw UserError("experiment.kappa is empty (name one number of free bits)");
            return variants;
          },
          train_steps,
          [](const Config& config, std::uint64_t seed) -> std::unique_ptr<Task> {
            return std::make_unique<SyntheticTextData>(config, seed);
          },
          make<float>,
          make<double>};
}

}  // namespace nudge
