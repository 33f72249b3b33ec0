// SPDX-License-Identifier: Apache-2.0
#include "training/models/tapes/sequence_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "mixers/attention/gradient_descent.hpp"
#include "mixers/layers.hpp"
#include "mixers/mixer.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"
#include "training/models/model_options.hpp"
#include "training/models/tapes/tape_kinds.hpp"

namespace nudge {
namespace {

std::string block_prefix(Index block) { return fmt::format("b{}_", block); }

Index inner_width(const SequenceShape& s) { return s.inner > 0 ? s.inner : (8 * s.width / 3 + 31) / 32 * 32; }

/// Mixer and step rule of a block's sub-layers.
struct StepMixer {
  MixerChoice choice;
  StepRule rule;
};

StepMixer mixer_of(const SequenceShape& s) {
  const SequenceMixer mixer = sequence_mixer(s.mixer, s.width, s.heads, s.tokens);
  return {s.choice.value_or(MixerChoice{mixer.kind, mixer.options}), mixer.rule};
}

/// Makes the sine and cosine position code of Vaswani et al., arXiv:1706.03762, section 3.5.
template <class S>
Matrix<S> position_code(Index tokens, Index width) {
  Matrix<S> code(tokens, width);
  for (Index t = 0; t < tokens; ++t) {
    for (Index c = 0; c < width; ++c) {
      const Index even = c - c % 2;
      const double angle =
          static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(even) / static_cast<double>(width));
      code(t, c) = static_cast<S>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return code;
}

/// Takes a step x ← x + U(x), or one with momentum. Its constants are column `part` of p[prefix + "beta"] and p[prefix
/// + "eta"].
template <class S>
void take_step(StepRule rule, MomentumState<S>& at, const NamedValues<S>& p, const std::string& prefix, Index part,
               const std::function<Value<S>(Value<S>)>& update) {
  if (rule == StepRule::residual) {
    at.z = at.z + update(at.z);
    return;
  }
  const LookAhead look_ahead = rule == StepRule::nesterov ? LookAhead::paper : LookAhead::none;
  at = momentum_step(look_ahead, at, columns(p[prefix + "beta"], part, 1), columns(p[prefix + "eta"], part, 1), update);
}

/// Computes the mixer's update of normed tokens; its parameters stand under `prefix`.
template <class S>
Value<S> update_of(const MixerChoice& mixer, Value<S> normed, const NamedValues<S>& p, const std::string& prefix) {
  const MixerSpec spec = mixer_spec(mixer);
  std::vector<Value<S>> weights;
  for (const Field& field : spec.parameters) weights.push_back(p[prefix + field.name]);
  const Value<S> out = mixed<S>(mixer, normed, weights);
  return spec.residual ? out - normed : out;
}

template <class S>
Value<S> decode_last_vector(Value<S> x, const NamedValues<S>& p) {
  const Value<S> ones = x.tape->constant(Matrix<S>::Ones(x.rows(), 1));
  const Value<S> last = product(ones, rows(x, x.rows() - 1, 1));
  const Value<S> at = last + x.tape->constant(position_code<S>(x.rows(), x.cols()));
  const Value<S> inner = apply(Function::gelu, product(rms_norm(at) * p["dec_n1"], p["dec_W1"]) + p["dec_b1"]);
  return rms_norm(inner) * p["dec_n2"];
}

}  // namespace

std::vector<Field> sequence_fields(const SequenceShape& s) {
  require_at_least("vocabulary", s.vocabulary, 1);
  require_at_least("tokens", s.tokens, 1);
  require_at_least("blocks", s.blocks, 1);
  const StepMixer mixer = mixer_of(s);
  const double narrow = 1.0 / std::sqrt(static_cast<double>(s.width));
  std::vector<Field> fields;
  if (s.features > 0) {
    fields = {{"in_W", {s.features, s.width}, 0, 1.0 / std::sqrt(static_cast<double>(s.features))},
              {"in_b", {s.width}}};
  } else {
    fields = {{"emb", {s.vocabulary, s.width}, 0, s.embedding_scale}};
  }
  for (Index l = 0; l < s.blocks; ++l) {
    const std::string prefix = block_prefix(l);
    fields.push_back({prefix + "n1", {s.width}, 1});
    for (Field& field : mixer_spec(mixer.choice).parameters) {
      field.name = prefix + field.name;
      fields.push_back(std::move(field));
    }
    for (Field& field : feed_forward_fields(prefix, s.width, inner_width(s))) fields.push_back(std::move(field));
    if (mixer.rule == StepRule::residual) continue;
    fields.push_back({prefix + "beta", {2}, mixer.choice.options.of<MomentumOptions>().momentum_start});
    fields.push_back({prefix + "eta", {2}, 1.0});
  }
  fields.push_back({"nf", {s.width}, 1});
  if (s.readout == Readout::last_vector) {
    fields.push_back({"dec_n1", {s.width}, 1});
    fields.push_back({"dec_W1", {s.width, s.width}, 0, narrow});
    fields.push_back({"dec_b1", {s.width}});
    fields.push_back({"dec_n2", {s.width}, 1});
  }
  if (!s.tied) fields.push_back({"read", {s.width, s.vocabulary}, 0, narrow});
  return fields;
}

template <class S>
Value<S> sequence_logits(Value<S> x, const SequenceShape& s, const NamedValues<S>& p) {
  const StepMixer mixer = mixer_of(s);
  MomentumState<S> at{x, {}};
  if (mixer.rule != StepRule::residual) at.p = x.tape->constant(Matrix<S>::Zero(at.z.rows(), at.z.cols()));
  for (Index l = 0; l < s.blocks; ++l) {
    const std::string prefix = block_prefix(l);
    take_step<S>(mixer.rule, at, p, prefix, 0,
                 [&](Value<S> z) { return update_of(mixer.choice, rms_norm(z) * p[prefix + "n1"], p, prefix); });
    take_step<S>(mixer.rule, at, p, prefix, 1, [&](Value<S> z) { return feed_forward(z, p, prefix); });
  }
  Value<S> out = rms_norm(at.z) * p["nf"];
  if (s.readout == Readout::last_vector) out = decode_last_vector(out, p);
  return s.tied ? tied_read(out, p["emb"]) : product(out, p["read"]);
}

template Value<float> sequence_logits<float>(Value<float>, const SequenceShape&, const NamedValues<float>&);
template Value<double> sequence_logits<double>(Value<double>, const SequenceShape&, const NamedValues<double>&);

namespace {

/// Example of symbols: each target has the same share of its loss.
template <class S>
class SequenceTape final : public ExampleTape<S> {
 public:
  SequenceTape(const SequenceShape& shape, const std::vector<Field>& fields, const std::vector<Matrix<S>>& parameters)
      : tokens_(std::make_shared<std::vector<int>>(static_cast<std::size_t>(shape.tokens))),
        targets_(std::make_shared<std::vector<int>>(static_cast<std::size_t>(shape.tokens))) {
    const NamedValues<S> named = this->bind(fields, parameters);
    share_ = this->tape().constant(Matrix<S>::Ones(1, 1));
    const Value<S> logits = sequence_logits<S>(gather_rows(named["emb"], SharedIndices(tokens_)), shape, named);
    const Value<S> cost = cross_entropy<S>(logits, SharedIndices(targets_)) * share_;
    this->set_results(logits, cost, cost);
  }

  void load(const Batch& batch, Index b, const ExampleId& /*id*/) override {
    const auto tokens = batch.indices_of(b), targets = batch.targets_of(b);
    std::copy(tokens.begin(), tokens.end(), tokens_->begin());
    std::copy(targets.begin(), targets.end(), targets_->begin());
    const Index asked = batch.counted(b);
    NUDGE_EXPECT(asked > 0);
    this->tape().leaf(share_)(0, 0) = S(1) / static_cast<S>(asked);
  }

 private:
  std::shared_ptr<std::vector<int>> tokens_, targets_;
  Value<S> share_;
};

/// Example of features, with values to fit: each target has the same share of its loss.
template <class S>
class StepTape final : public ExampleTape<S> {
 public:
  StepTape(const SequenceShape& shape, const std::vector<Field>& fields, const std::vector<Matrix<S>>& parameters) {
    const NamedValues<S> named = this->bind(fields, parameters);
    Tape<S>& tape = this->tape();
    features_ = tape.constant(Matrix<S>::Zero(shape.tokens, shape.features));
    values_ = tape.constant(Matrix<S>::Zero(shape.tokens, shape.vocabulary));
    shares_ = tape.constant(Matrix<S>::Zero(shape.tokens, 1));
    const Value<S> out = sequence_logits<S>(product(features_, named["in_W"]) + named["in_b"], shape, named);
    const Value<S> cost = affine(total(apply(Function::square, out - values_) * shares_), 0.5);
    this->set_results(out, cost, cost);
  }

  void load(const Batch& batch, Index b, const ExampleId& /*id*/) override {
    this->tape().leaf(features_) = batch.features_of(b).template cast<S>();
    this->tape().leaf(values_) = batch.values_of(b).template cast<S>();
    const Index asked = batch.counted(b);
    NUDGE_EXPECT(asked > 0);
    for (Index t = 0; t < batch.tokens; ++t) {
      this->tape().leaf(shares_)(t, 0) = batch.counts(b * batch.tokens + t) ? S(1) / static_cast<S>(asked) : S(0);
    }
  }

 private:
  Value<S> features_, values_, shares_;
};

template <class S>
class SequenceWriter final : public TextWriter {
 public:
  SequenceWriter(const SequenceShape& shape, const std::vector<Field>& fields, const std::vector<Matrix<S>>& parameters)
      : tape_(shape, fields, parameters), rows_(shape.tokens) {}
  std::vector<double> next(const std::vector<int>& text, std::uint64_t /*number*/) override {
    tape_.load(text_window(text, rows_), 0, {});
    tape_.tape().run();
    return last_logits(tape_.output(), text);
  }

 private:
  SequenceTape<S> tape_;
  Index rows_;
};

template <class S>
class SequenceModel final : public TapeModel<S> {
 public:
  explicit SequenceModel(const SequenceShape& shape) : shape_(shape), fields_(sequence_fields(shape)) {}

  std::vector<Field> fields() const override { return fields_; }
  std::unique_ptr<ExampleTape<S>> record(const std::vector<Matrix<S>>& parameters) const override {
    if (shape_.features > 0) return std::make_unique<StepTape<S>>(shape_, fields_, parameters);
    return std::make_unique<SequenceTape<S>>(shape_, fields_, parameters);
  }
  std::unique_ptr<TextWriter> writer(const std::vector<Matrix<S>>& parameters,
                                     const WriterOptions& options) const override {
    if (options.prefill)
      throw UserError("--prefill: network.kind = sequence_model has no latents (free_transformer has)");
    return std::make_unique<SequenceWriter<S>>(shape_, fields_, parameters);
  }

 private:
  SequenceShape shape_;
  std::vector<Field> fields_;
};

MixerChoice chosen_mixer(const Config& config) {
  const ModelOptions model = model_options(config);
  return sequence_choice(config, sequence_section().read(config).mixer, model.channels, model.heads, model.tokens);
}

SequenceShape sequence_shape(const Config& config, const TaskSizes& sizes) {
  const ModelOptions model = model_options(config);
  const SequenceOptions options = sequence_section().read(config);
  SequenceShape shape;
  shape.vocabulary = sizes.features > 0 ? sizes.values : sizes.symbols;
  shape.features = sizes.features;
  shape.tokens = sizes.rows;
  shape.width = model.channels;
  shape.heads = model.heads;
  shape.blocks = options.blocks;
  shape.inner = options.inner;
  shape.embedding_scale = model.scales.embedding;
  shape.mixer = options.mixer;
  shape.choice = chosen_mixer(config);
  shape.tied = options.tied;
  if (shape.tied && shape.features > 0) {
    throw UserError("sequence.tied = true needs a table of symbols to read through, and task.kind = " +
                    task_kind(config).name + " has features: leave it out");
  }
  shape.readout = task_kind(config).name == "compression" ? Readout::last_vector : Readout::each_token;
  return shape;
}

template <class S>
std::unique_ptr<TapeModel<S>> sequence_model(const Config& config, const TaskSizes& sizes) {
  return sequence_tape_model<S>(sequence_shape(config, sizes));
}

}  // namespace

template <class S>
std::unique_ptr<TapeModel<S>> sequence_tape_model(const SequenceShape& shape) {
  return std::make_unique<SequenceModel<S>>(shape);
}

template std::unique_ptr<TapeModel<float>> sequence_tape_model<float>(const SequenceShape&);
template std::unique_ptr<TapeModel<double>> sequence_tape_model<double>(const SequenceShape&);

const Section<SequenceOptions>& sequence_section() {
  using param::choice, param::flag, param::formerly, param::integer, param::zero_is;
  static const Section<SequenceOptions> section = {
      field(formerly({"experiment.mixers"}, choice("sequence.mixer", "mha", sequence_mixer_names(),
                                                   "What mixes tokens in a network.kind = sequence_model: a mixer of "
                                                   "docs/reference/mixers.md, each with 4 C^2 weights per block.")),
            &SequenceOptions::mixer),
      field(formerly({"experiment.blocks"},
                     integer("sequence.blocks", "2", between(1, 1000),
                             "Blocks of a sequence_model or free_transformer: mixer and feed-forward part.")),
            &SequenceOptions::blocks),
      field(formerly({"experiment.inner"}, zero_is("auto", integer("sequence.inner", "auto", between(0, 1048576),
                                                                   "Width of their gated feed-forward parts; auto: 8/3 "
                                                                   "of model.channels, up to a multiple of 32."))),
            &SequenceOptions::inner),
      field(flag("sequence.tied", "false",
                 "true: the read-out of a sequence_model or free_transformer is the table of symbols over sqrt(C), no "
                 "matrix of its own.",
                 "Press and Wolf, arXiv:1608.05859; the 1.5B model of The Free Transformer"),
            &SequenceOptions::tied)};
  return section;
}

NetworkKind sequence_network() {
  NetworkKind kind;
  kind.name = "sequence_model";
  kind.summary = "pre-norm blocks of any mixer; digital weights, by backprop";
  kind.tape = {sequence_model<float>, sequence_model<double>};
  using M = ModelOptions;
  kind.keys = model_section().rows_of({&M::channels, &M::heads, {&M::scales, &InitialScales::embedding}});
  add_rows(kind.keys, sequence_section().rows());
  add_rows(kind.keys, sequence_mixer_rows("sequence.mixer", sequence_mixer_names()));
  kind.mixer = [](const Config& config) { return std::optional(chosen_mixer(config)); };
  return kind;
}

}  // namespace nudge
