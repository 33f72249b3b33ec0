// SPDX-License-Identifier: Apache-2.0
#include "training/models/tapes/argmax_read.hpp"

#include <cmath>

#include "mixers/fem/free_energy_mixer.hpp"
#include "mixers/mixer.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/reads.hpp"
#include "training/models/model_options.hpp"
#include "training/models/tapes/tape_kinds.hpp"
#include "training/models/tapes/tape_model.hpp"

namespace nudge {
namespace {

const Choices<bool> read_kinds{{"softmax", false}, {"free_energy", true}};

template <class S>
class ArgmaxTape final : public ExampleTape<S> {
 public:
  ArgmaxTape(const ArgmaxShape& shape, const std::vector<Matrix<S>>& parameters) {
    const NamedValues<S> named = this->bind(argmax_fields(shape), parameters);
    values_ = this->tape().constant(Matrix<S>::Zero(shape.tokens, shape.width));
    largest_ = this->tape().constant(Matrix<S>::Zero(1, shape.width));
    prediction_ = argmax_read(shape, values_, named, "xb");
    Matrix<S> last = Matrix<S>::Zero(shape.tokens, 1);
    last(shape.tokens - 1, 0) = S(1);
    const Value<S> error = argmax_error(prediction_, largest_, 1.0 / static_cast<double>(shape.width));
    this->set_results(product(this->tape().constant(std::move(last)), prediction_), error, error);
  }

  void load(const Batch& batch, Index b, const ExampleId& /*id*/) override {
    this->tape().leaf(values_) = batch.features_of(b).template cast<S>();
    this->tape().leaf(largest_) = batch.values_of(b).bottomRows(1).template cast<S>();
  }

  /// Share of channels whose nearest value is the winner's: the largest, by a margin of 20 deviations.
  std::vector<double> measured() const override {
    const Matrix<S>& v = values_.matrix();
    Index count = 0;
    for (Index c = 0; c < v.cols(); ++c) {
      Index nearest = 0, winner = 0;
      (v.col(c).array() - prediction_.matrix()(0, c)).abs().minCoeff(&nearest);
      v.col(c).maxCoeff(&winner);
      count += nearest == winner ? 1 : 0;
    }
    return {static_cast<double>(count) / static_cast<double>(v.cols())};
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
  std::vector<double> measured(const std::vector<Matrix<S>>& parameters, bool /*finished*/) const override {
    if (!shape_.free_energy) return {std::nan("")};
    return {static_cast<double>(
        (parameters.back().array() + S(1.8)).exp().log1p().mean())};  // softplus(xb + 1.8), as the read's
  }

 private:
  ArgmaxShape shape_;
};

template <class S>
std::unique_ptr<TapeModel<S>> model(const Config& config, const TaskSizes& sizes) {
  return std::make_unique<ArgmaxModel<S>>(
      ArgmaxShape{sizes.rows, sizes.features, model_options(config).heads, argmax_section().read(config).free_energy});
}

}  // namespace

const Section<ArgmaxOptions>& argmax_section() {
  static const Section<ArgmaxOptions> section = {
      field(param::named("argmax.read", "free_energy",
                         "How a network.kind = argmax_read reads: the free energy mixed with the mean, or softmax "
                         "attention's mean alone.",
                         "Lu and Yang, Free Energy Mixer, appendix P"),
            read_kinds, &ArgmaxOptions::free_energy)};
  return section;
}

NetworkKind argmax_network() {
  NetworkKind kind;
  kind.name = "argmax_read";
  kind.summary = "one layer whose last token reads every channel once; digital weights, by backprop";
  kind.takes = Rows::steps;
  kind.tape = {model<float>, model<double>, [](const Config&) -> std::vector<Measure> {
                 return {{"index_accuracy", "1", "share of channels whose prediction is nearest to the winner's value"},
                         {"beta", "1", "mean inverse temperature beta over the channels"}};
               }};
  kind.only_task = "argmax";
  kind.keys = model_section().rows_of({&ModelOptions::channels, &ModelOptions::heads});
  add_rows(kind.keys, argmax_section().rows());
  return kind;
}

std::vector<Field> argmax_fields(const ArgmaxShape& s) {
  require_divides("heads", s.heads, "width", s.width);
  constexpr double deviation = 0.02;  // of the published code; the reference runs start there
  std::vector<Field> fields = {{"Wq", {s.width, s.width}, 0, deviation}, {"Wk", {s.width, s.width}, 0, deviation}};
  if (!s.free_energy) return fields;
  fields.push_back({"Wl", {s.width, s.width}, 0, deviation});
  fields.push_back({"bl", {s.width}});
  fields.push_back({"xb", {s.width}});
  return fields;
}

template <class S>
Value<S> argmax_read(const ArgmaxShape& s, Value<S> v, const NamedValues<S>& p, const std::string& beta_name) {
  const Value<S> x = rows(v, v.rows() - 1, 1);
  const Value<S> q = product(x, p["Wq"]);
  const Index m = s.width / s.heads;
  // The mean alone needs no β; the read gives both, so that branch gets β = 1.
  const Value<S> beta =
      s.free_energy ? inverse_temperature(p["xb"], beta_name) : v.tape->constant(Matrix<S>::Ones(1, s.width));
  std::vector<Value<S>> means;
  std::vector<Value<S>> energies;
  for (Index h = 0; h < s.heads; ++h) {
    // q_h·k_i = (Wk_h q_h)·v_i: no keys for all tokens.
    const Value<S> direction = product_nt(columns(q, h * m, m), columns(p["Wk"], h * m, m));
    const Value<S> scores = affine(product_nt(direction, v), 1.0 / std::sqrt(static_cast<double>(m)));
    const Value<S> both =
        free_energy_read(scores, columns(v, h * m, m), columns(beta, h * m, m), Mask::full(1, v.rows()));
    means.push_back(columns(both, 0, m));
    energies.push_back(columns(both, m, m));
  }
  const Branches<S> branches{join_columns(means), join_columns(energies)};
  if (!s.free_energy) return branches.mean;
  const Value<S> lambda = apply(Function::sigmoid, product(x, p["Wl"]) + p["bl"]);
  return gated_read<S>(branches, &lambda, nullptr);
}

template <class S>
Value<S> argmax_error(Value<S> prediction, Value<S> largest, double scale) {
  return affine(total(apply(Function::square, prediction - largest)), scale);
}

#define NUDGE_ARGMAX_NETWORK(S)                                                                              \
  template Value<S> argmax_read<S>(const ArgmaxShape&, Value<S>, const NamedValues<S>&, const std::string&); \
  template Value<S> argmax_error<S>(Value<S>, Value<S>, double);
NUDGE_BOTH_PRECISIONS(NUDGE_ARGMAX_NETWORK)

}  // namespace nudge
