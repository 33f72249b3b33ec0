// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numbers>

#include "mixers/attention/heads.hpp"
#include "mixers/free_transformer/model.hpp"
#include "mixers/free_transformer/synthetic.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "training/data/data_options.hpp"
#include "training/models/model_options.hpp"
#include "training/models/tapes/free_transformer_parts.hpp"
#include "training/models/tapes/tape_kinds.hpp"
#include "training/models/tapes/tape_model.hpp"

namespace nudge {
namespace {

constexpr std::uint64_t kGenerated = std::uint64_t{1} << 41;  ///< numbers of generated examples start here
constexpr const char* kLatentTask = "latent";

/// Setting that every tape of a run is made of.
struct LatentSetting {
  FreeTransformerShape shape;
  Index tokens = 0;
  LatentOptions options;
  std::uint64_t seed = 0;
  int threads = 0;
  bool synthetic = false;  ///< true for task.kind = latent, whose place and noise are known
};

template <class S>
class LatentTape final : public ExampleTape<S> {
 public:
  LatentTape(const LatentSetting& setting, const std::vector<Matrix<S>>& parameters)
      : synthetic_(setting.synthetic),
        sampler_(make_bit_source<S>(setting.options, setting.seed)),
        tokens_(std::make_shared<std::vector<int>>(static_cast<std::size_t>(setting.tokens))),
        targets_(std::make_shared<std::vector<int>>(tokens_->size(), Batch::kIgnored)),
        named_(this->bind(free_transformer_fields(setting.shape), parameters)),
        share_(this->tape().constant(Matrix<S>::Ones(1, 1))) {
    sampler_->select(0, 0);
    const FreeTransformer<S> model(setting.shape, named_);
    const Value<S> x = model.lower_half(SharedIndices(tokens_));
    const Value<S> bits = model.encode(x);
    const Value<S> logits = model.upper_half(x, model.latent(bits, sampler_));
    const Value<S> cost = cross_entropy(logits, SharedIndices(targets_)) * share_;
    information_ = latent_information(bits);
    this->set_results(logits, cost, cost + free_bits(information_, setting.options.free_bits * std::numbers::ln2));
  }

  void load(const Batch& batch, Index b, const ExampleId& id) override {
    const auto tokens = batch.indices_of(b), targets = batch.targets_of(b);
    std::copy(tokens.begin(), tokens.end(), tokens_->begin());
    std::copy(targets.begin(), targets.end(), targets_->begin());
    sampler_->select(id.number, id.split == Split::test ? 1 : 0);
    const Index asked = batch.counted(b);
    NUDGE_EXPECT(asked > 0);
    this->tape().leaf(share_)(0, 0) = S(1) / static_cast<S>(asked);
  }
  std::vector<double> measured() const override {
    const double information = static_cast<double>(information_.matrix().mean()) / std::numbers::ln2;
    if (!synthetic_) return {information};
    const ToldBits told = told_bits(this->output(), *tokens_);
    return {information, told.place, told.noise};
  }

 private:
  bool synthetic_;
  std::shared_ptr<BitSampler<S>> sampler_;
  std::shared_ptr<std::vector<int>> tokens_, targets_;
  NamedValues<S> named_;
  Value<S> share_, information_;
};

/// Attention of its blocks; of [mixer] it reads key_value_heads alone.
MixerChoice attention_of(const Config& config) {
  const ModelOptions model = model_options(config);
  MixerChoice choice{"mha"};
  choice.options.width = model.channels;
  choice.options.heads = model.heads;
  AttentionOptions& heads = choice.options.of<AttentionOptions>();
  heads.head_width = std::max<Index>(1, model.channels / model.heads);
  heads.key_value_heads = head_section().read(config).key_value_heads;
  return choice;
}

LatentSetting setting_of(const Config& config, const TaskSizes& sizes) {
  const ModelOptions model = model_options(config);
  const SequenceOptions options = sequence_section().read(config);
  LatentSetting setting;
  setting.options = latent_section().read(config);
  setting.tokens = sizes.rows;
  setting.seed = run_seed(config);
  setting.threads = static_cast<int>(config.integer("threads"));
  setting.synthetic = task_kind(config).name == kLatentTask;
  FreeTransformerShape& shape = setting.shape;
  shape.width = model.channels;
  shape.heads = model.heads;
  shape.layers = options.blocks;
  shape.inner = shape.encoder_inner = options.inner > 0 ? options.inner : (8 * shape.width / 3 + 31) / 32 * 32;
  shape.vocabulary = sizes.symbols;
  shape.bits = setting.options.bits;
  shape.key_value_heads = attention_of(config).options.of<AttentionOptions>().key_value_heads;
  shape.tied = options.tied;
  return setting;
}

/// Writer that gives each character the latent drawn for its place in the text.
template <class S>
class LatentWriter final : public TextWriter {
 public:
  LatentWriter(const LatentSetting& setting, const std::vector<Matrix<S>>& parameters, const WriterOptions& options)
      : setting_(setting), parameters_(&parameters) {
    const auto source = make_bit_source<S>(setting.options, options.seed);
    source->select(kGenerated, 0);
    const Index all = static_cast<Index>(options.prompt.size()) + options.added;
    latents_ = options.prefill
                   ? prefill_latents<S>(setting.shape, parameters, options.prompt, all, *source, options.seed, 0)
                   : prior_latents<S>(all, setting.shape.bits, *source);
  }

  std::vector<double> next(const std::vector<int>& text, std::uint64_t /*number*/) override {
    const auto known = std::min<std::ptrdiff_t>(setting_.tokens, static_cast<std::ptrdiff_t>(text.size()));
    const auto end = static_cast<std::ptrdiff_t>(text.size());
    NUDGE_EXPECT(text.size() <= latents_.size());
    const std::vector<int> latents(latents_.begin() + end - known, latents_.begin() + end);
    Tape<S> tape;
    NamedValues<S> named;
    const std::vector<Field> fields = free_transformer_fields(setting_.shape);
    for (std::size_t k = 0; k < fields.size(); ++k) named.add(fields[k].name, tape.parameter((*parameters_)[k]));
    const FreeTransformer<S> model(setting_.shape, named);
    const Value<S> x = model.lower_half(std::vector<int>(text.end() - known, text.end()));
    return last_logits(model.upper_half(x, model.latent(latents)).matrix(), text);
  }

 private:
  LatentSetting setting_;
  const std::vector<Matrix<S>>* parameters_;
  std::vector<int> latents_;
};

template <class S>
class LatentModel final : public TapeModel<S> {
 public:
  explicit LatentModel(const LatentSetting& setting) : setting_(setting) {}

  std::vector<Field> fields() const override { return free_transformer_fields(setting_.shape); }
  std::unique_ptr<ExampleTape<S>> record(const std::vector<Matrix<S>>& parameters) const override {
    return std::make_unique<LatentTape<S>>(setting_, parameters);
  }
  std::unique_ptr<TextWriter> writer(const std::vector<Matrix<S>>& parameters,
                                     const WriterOptions& options) const override {
    return std::make_unique<LatentWriter<S>>(setting_, parameters, options);
  }
  std::vector<double> measured(const std::vector<Matrix<S>>& parameters, bool finished) const override {
    if (!setting_.synthetic) return {};
    return finished ? of_pairs(parameters) : std::vector<double>(8, std::numeric_limits<double>::quiet_NaN());
  }

 private:
  /// Draws a sequence from a letter's prompt and latent bits; the bits are fair coins of the source, named by `latent`.
  std::vector<int> sample(const std::vector<Matrix<S>>& parameters, int letter, std::uint64_t latent,
                          std::uint64_t tokens) const {
    const auto source = make_bit_source<S>(setting_.options, setting_.seed);
    source->select(kGenerated + latent, 0);
    return generate<S>(setting_.shape, parameters, {letter, SyntheticText::end_of_prompt},
                       prior_latents<S>(setting_.tokens, setting_.shape.bits, *source), 1.0, setting_.seed,
                       static_cast<std::uint32_t>(tokens));
  }

  std::vector<double> of_pairs(const std::vector<Matrix<S>>& parameters) const {
    const Index n = setting_.options.pairs;
    std::vector<SequencePair> shared(static_cast<std::size_t>(n)), independent(shared);
    parallel_for(n, setting_.threads, [&](Index i, int /*thread*/) {
      const auto k = static_cast<std::uint64_t>(i);
      const auto letter = static_cast<int>(i % SyntheticText::blank);
      const auto one = sample(parameters, letter, 2 * k, 3 * k);
      shared[static_cast<std::size_t>(i)] = {one, sample(parameters, letter, 2 * k, 3 * k + 1)};
      independent[static_cast<std::size_t>(i)] = {one, sample(parameters, letter, 2 * k + 1, 3 * k + 2)};
    });
    const PairAgreement with = agreement(shared);
    const PairAgreement without = agreement(independent);
    std::vector<std::vector<int>> all;
    for (std::size_t i = 0; i < shared.size(); ++i) {
      for (const auto* each : {&shared[i].first, &shared[i].second, &independent[i].second}) all.push_back(*each);
    }
    const SyntheticStatistics statistics = synthetic_statistics(all);
    return {with.place,
            without.place,
            with.distance,
            without.distance,
            with.noise,
            without.noise,
            statistics.whole_targets * statistics.right_letters,
            statistics.noise};
  }

  LatentSetting setting_;
};

template <class S>
std::unique_ptr<TapeModel<S>> model(const Config& config, const TaskSizes& sizes) {
  return std::make_unique<LatentModel<S>>(setting_of(config, sizes));
}

std::vector<Measure> measures(const Config& config) {
  std::vector<Measure> all = {
      {"information", "bit", "mean KL divergence per token of the encoder's bits from fair coins"}};
  if (task_kind(config).name != kLatentTask) return all;
  for (const Measure& one : std::vector<Measure>{
           {"place_told", "bit", "information of Z on the position of the target, of 5.83"},
           {"noise_told", "bit", "information of Z on its noise, of 21.59"},
           {"place_shared", "1", "correlation of the positions of targets in pairs generated with the same Z"},
           {"place_independent", "1", "the same with independent Z: 0 by chance"},
           {"distance_shared", "1", "mean distance of the targets in pairs generated with the same Z"},
           {"distance_independent", "1", "the same with independent Z: 19 by chance"},
           {"noise_shared", "1", "correlation of the noise in pairs generated with the same Z"},
           {"noise_independent", "1", "the same with independent Z: 0 by chance"},
           {"right", "1", "share of generated sequences with one whole target of the prompt's letter"},
           {"noise", "1", "share of noise among generated characters, 1/16 in the data"}})
    all.push_back(one);
  return all;
}

}  // namespace

const Section<LatentOptions>& latent_section() {
  using param::choice, param::formerly, param::integer, param::real;
  static const Section<LatentOptions> section = [] {
    Section<LatentOptions> all = {
        field(formerly({"experiment.bits"}, integer("latent.bits", "8", between(1, 20),
                                                    "Bits H of a token's latent in a network.kind = free_transformer; "
                                                    "the table of latents has 2^H rows.")),
              &LatentOptions::bits),
        field(formerly({"experiment.kappa"},
                       real("latent.free_bits", "0.125", at_least(0),
                            "kappa: information per token, in bits, that costs the encoder nothing.",
                            "Fleuret, The Free Transformer, figure 4: 1/64 to 8")),
              &LatentOptions::free_bits),
        field(formerly({"experiment.sampler"}, choice("latent.sampler", "pseudo_random", bit_source_names(),
                                                      "What draws the bits of the latent; device: simulated stochastic "
                                                      "binary devices (p-bits), one per bit.")),
              &LatentOptions::sampler),
        field(formerly({"experiment.bit_offset"},
                       real("latent.bit_offset", "0", any_number(),
                            "Input in logits at which a device returns 0 and 1 equally often: its bias.")),
              &LatentOptions::bit_offset),
        field(formerly({"experiment.bit_offset_spread"}, real("latent.bit_offset_spread", "0.2", at_least(0),
                                                              "Device to device, of the offset, in logits.",
                                                              "an assumption: measure it on your devices")),
              &LatentOptions::bit_offset_spread),
        field(formerly({"experiment.bit_gain_spread"},
                       real("latent.bit_gain_spread", "0.1", from_below(0, 1),
                            "Device to device, of the gain, relative.", "an assumption: measure it on your devices")),
              &LatentOptions::bit_gain_spread),
        field(formerly({"experiment.bit_correlation"}, real("latent.bit_correlation", "0.1", from_below(0, 1),
                                                            "Correlation of a device's values from token to token.",
                                                            "an assumption: measure it on your devices")),
              &LatentOptions::bit_correlation),
        field(formerly(
                  {"experiment.pairs"},
                  integer("latent.pairs", "64", between(1, 1000000),
                          "Pairs of generated sequences on which shared information through Z is measured (task.kind = "
                          "latent).")),
              &LatentOptions::pairs)};
    using O = LatentOptions;
    all.where(chosen("latent.sampler", {"device"}),
              {&O::bit_offset, &O::bit_offset_spread, &O::bit_gain_spread, &O::bit_correlation});
    return all;
  }();
  return section;
}

NetworkKind free_transformer_network() {
  NetworkKind kind;
  kind.name = "free_transformer";
  kind.summary = "a decoder that reads a random latent per token, and its encoder; digital weights, by backprop";
  kind.tape = {model<float>, model<double>, measures};
  kind.keys = model_section().rows_of({&ModelOptions::channels, &ModelOptions::heads});
  add_rows(kind.keys,
           sequence_section().rows_of({&SequenceOptions::blocks, &SequenceOptions::inner, &SequenceOptions::tied}));
  add_rows(kind.keys, head_section().rows_of({&AttentionOptions::key_value_heads}));
  add_rows(kind.keys, latent_section().rows());
  kind.mixer = [](const Config& config) { return std::optional(attention_of(config)); };
  return kind;
}

}  // namespace nudge
