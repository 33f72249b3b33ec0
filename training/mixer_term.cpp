// SPDX-License-Identifier: Apache-2.0
#include "training/mixer_term.hpp"

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

/// The mixer's computation on a tape of its own, from the state z to y.
template <class S>
struct MixerTerm<S>::Recording {
  Tape<S> tape;
  Value<S> z, y;
  std::vector<Value<S>> weights;
};

template <class S>
struct MixerTerm<S>::Point final : TermPoint {
  Recording moving, fixed;
  Matrix<S> direction;  ///< one copy of what is pushed forward or pulled back
};

template <class S>
MixerTerm<S>::MixerTerm(const MixerChoice& choice, S gain, int first_parameter,
                        std::vector<const LinearMap<S>*> weights)
    : choice_(choice),
      spec_(mixer_spec(choice)),
      gain_(gain),
      first_parameter_(first_parameter),
      weights_(std::move(weights)) {
  NUDGE_EXPECT(weights_.size() == spec_.parameters.size());
}

template <class S>
void MixerTerm<S>::record(Recording& recording, Index tokens) const {
  MixerCall<S> call{choice_.options, {}, {}, mask_of(choice_, tokens)};
  recording.z = recording.tape.input(Matrix<S>::Zero(tokens, choice_.options.width));
  call.inputs.add(spec_.inputs.front().name, recording.z);
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    recording.weights.push_back(recording.tape.parameter(weights_[k]->weights()));
    call.parameters.add(spec_.parameters[k].name, recording.weights.back());
  }
  mixer_kind<S>(choice_.kind).forward(call);
  recording.y = call.outputs.front();
}

template <class S>
std::unique_ptr<TermPoint> MixerTerm<S>::make_point(Index tokens) const {
  auto point = std::make_unique<Point>();
  record(point->moving, tokens);
  record(point->fixed, tokens);
  point->direction.resize(tokens, choice_.options.width);
  return point;
}

/// f += F(z) of one copy.
template <class S>
void MixerTerm<S>::evaluate(Recording& recording, ConstMatrixRef<S> z, MatrixRef<S> f) const {
  recording.tape.leaf(recording.z) = z;
  recording.tape.run();
  f += gain_ * recording.y.matrix();
  if (spec_.residual) f -= gain_ * z;
}

template <class S>
void MixerTerm<S>::force(ConstMatrixRef<S> z, MatrixRef<S> f, TermPoint& point) const {
  auto& at = static_cast<Point&>(point);
  const Index tokens = at.direction.rows();
  for (Index row = 0; row < z.rows(); row += tokens) {
    evaluate(at.moving, z.middleRows(row, tokens), f.middleRows(row, tokens));
  }
}

template <class S>
void MixerTerm<S>::linearize(ConstMatrixRef<S> z, MatrixRef<S> f, TermPoint& point) const {
  evaluate(static_cast<Point&>(point).fixed, z, f);
}

template <class S>
void MixerTerm<S>::jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, TermPoint& point) const {
  auto& at = static_cast<Point&>(point);
  Tape<S>& tape = at.fixed.tape;
  const Index tokens = at.direction.rows();
  for (Index row = 0; row < v.rows(); row += tokens) {
    at.direction = v.middleRows(row, tokens);
    tape.clear_tangents();
    tape.set_tangent(at.fixed.z, at.direction);
    tape.push_forward();
    auto out = f.middleRows(row, tokens);
    out += (scale * gain_) * tape.tangent(at.fixed.y);
    if (spec_.residual) out -= (scale * gain_) * at.direction;
  }
}

template <class S>
void MixerTerm<S>::vjp(ConstMatrixRef<S> u, MatrixRef<S> f, TermPoint& point) const {
  auto& at = static_cast<Point&>(point);
  Tape<S>& tape = at.fixed.tape;
  const Index tokens = at.direction.rows();
  for (Index row = 0; row < u.rows(); row += tokens) {
    at.direction = u.middleRows(row, tokens);
    tape.clear_cotangents();
    tape.add_cotangent(at.fixed.y, at.direction);
    tape.pull_back(Leaves::inputs);
    auto out = f.middleRows(row, tokens);
    out += gain_ * tape.cotangent(at.fixed.z);
    if (spec_.residual) out -= gain_ * at.direction;
  }
}

template <class S>
void MixerTerm<S>::accumulate(ConstMatrixRef<S> u, S scale, TermPoint& point, GradientSink<S>& sink) const {
  auto& at = static_cast<Point&>(point);
  Tape<S>& tape = at.fixed.tape;
  at.direction = u;
  tape.clear_cotangents();
  tape.add_cotangent(at.fixed.y, at.direction);
  tape.pull_back(Leaves::parameters);
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    const Matrix<S>& gradient = tape.cotangent(at.fixed.weights[k]);
    if (gradient.size() > 0) sink.accumulate(first_parameter_ + static_cast<int>(k), scale * gain_, gradient);
  }
}

template class MixerTerm<float>;
template class MixerTerm<double>;

}  // namespace nudge
