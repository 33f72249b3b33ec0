// SPDX-License-Identifier: Apache-2.0
#include "training/models/mixer_term.hpp"

#include <fmt/format.h>

#include <utility>

#include "mixers/registry.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Whether a kind maps states to states. One head as wide as the state is a size that every kind accepts.
bool maps_states(const MixerKind<double>& kind) {
  MixerOptions options;
  options.heads = options.decays = 1;
  options.head_width = options.width;
  const MixerSpec spec = kind.spec(options);
  return spec.inputs.size() == 1 && spec.outputs.front().rows() < 0 && spec.outputs.front().cols() == options.width;
}

Mask mask_of(const MixerChoice& choice, Index tokens) {
  if (choice.window == 0 || choice.window >= tokens) return Mask::causal(tokens);
  return Mask::causal_window(tokens, choice.window);
}

}  // namespace

const std::vector<std::string>& force_mixers() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& kind : mixer_kinds<double>()) {
      if (maps_states(kind)) all.push_back(kind.name);
    }
    return all;
  }();
  return names;
}

MixerSpec mixer_spec(const MixerChoice& choice) {
  MixerSpec spec = mixer_kind<double>(choice.kind).spec(choice.options);
  if (choice.window > 0 && spec.only_causal) {
    throw UserError(fmt::format("window = {} ({} has no window: use 0)", choice.window, choice.kind));
  }
  return spec;
}

/// The mixer's computation on a tape of its own, from the state z of one copy to y.
template <class S>
struct MixerTerm<S>::Recording {
  Tape<S> tape;
  Value<S> z, y;
  std::vector<Value<S>> weights;
};

template <class S>
MixerTerm<S>::MixerTerm(int node, Columns at, const MixerChoice& choice, S gain, int first_parameter,
                        std::vector<const LinearMap<S>*> weights)
    : node_(node),
      at_(at),
      choice_(choice),
      spec_(mixer_spec(choice)),
      gain_(gain),
      first_parameter_(first_parameter),
      weights_(std::move(weights)) {
  NUDGE_EXPECT(weights_.size() == spec_.parameters.size() && at_.count == choice_.options.width);
}

template <class S>
void MixerTerm<S>::record(Recording& recording, Index rows) const {
  MixerCall<S> call{choice_.options, {}, {}, mask_of(choice_, rows)};
  recording.z = recording.tape.input(Matrix<S>::Zero(rows, choice_.options.width));
  call.inputs.add(spec_.inputs.front().name, recording.z);
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    recording.weights.push_back(recording.tape.parameter(weights_[k]->weights()));
    call.parameters.add(spec_.parameters[k].name, recording.weights.back());
  }
  mixer_kind<S>(choice_.kind).forward(call);
  recording.y = call.outputs.front();
}

/// One recording moves with the state, one stays at the linearisation point.
template <class S>
class MixerTerm<S>::System final : public TermSystem<S> {
 public:
  System(const MixerTerm& term, Index rows) : term_(&term), direction_(rows, term.at_.count) {
    term.record(moving_, rows);
    term.record(fixed_, rows);
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part /*part*/, ReadContext& /*read*/) override {
    for (Index row = 0; row < z.rows(); row += rows()) evaluate(moving_, one(z, row), one(f, row));
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> /*conservative*/, MatrixRef<S> rest,
                 ReadContext& /*read*/) override {
    evaluate(fixed_, one(z, 0), one(rest, 0));
  }

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part /*part*/, ReadContext& /*read*/) override {
    Tape<S>& tape = fixed_.tape;
    for (Index row = 0; row < v.rows(); row += rows()) {
      direction_ = one(v, row);
      tape.clear_tangents();
      tape.set_tangent(fixed_.z, direction_);
      tape.push_forward();
      auto out = one(f, row);
      out += (scale * term_->gain_) * tape.tangent(fixed_.y);
      if (term_->spec_.residual) out -= (scale * term_->gain_) * direction_;
    }
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part /*part*/, ReadContext& /*read*/) override {
    Tape<S>& tape = fixed_.tape;
    for (Index row = 0; row < u.rows(); row += rows()) {
      direction_ = one(u, row);
      tape.clear_cotangents();
      tape.add_cotangent(fixed_.y, direction_);
      tape.pull_back(Leaves::inputs);
      auto out = one(f, row);
      out += term_->gain_ * tape.cotangent(fixed_.z);
      if (term_->spec_.residual) out -= term_->gain_ * direction_;
    }
  }

  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> /*input_gradient*/,
                  ReadContext& /*read*/) override {
    Tape<S>& tape = fixed_.tape;
    direction_ = one(u, 0);
    tape.clear_cotangents();
    tape.add_cotangent(fixed_.y, direction_);
    tape.pull_back(Leaves::parameters);
    for (std::size_t k = 0; k < fixed_.weights.size(); ++k) {
      const Matrix<S>& gradient = tape.cotangent(fixed_.weights[k]);
      if (gradient.size() == 0) continue;
      sink.accumulate(term_->first_parameter_ + static_cast<int>(k), scale * term_->gain_, gradient);
    }
  }

 private:
  Index rows() const { return direction_.rows(); }
  /// The node's columns of one copy.
  template <class Ref>
  auto one(Ref& state, Index row) const {
    return state.middleCols(term_->at_.begin, term_->at_.count).middleRows(row, rows());
  }

  /// f += F(z) of one copy.
  void evaluate(Recording& recording, ConstMatrixRef<S> z, MatrixRef<S> f) const {
    recording.tape.leaf(recording.z) = z;
    recording.tape.run();
    f += term_->gain_ * recording.y.matrix();
    if (term_->spec_.residual) f -= term_->gain_ * z;
  }

  const MixerTerm* term_;
  Recording moving_, fixed_;
  Matrix<S> direction_;  ///< one copy of what is pushed forward or pulled back
};

template <class S>
std::unique_ptr<TermSystem<S>> MixerTerm<S>::make_system(Index rows, Index /*max_copies*/) const {
  return std::make_unique<System>(*this, rows);
}

template class MixerTerm<float>;
template class MixerTerm<double>;

}  // namespace nudge
