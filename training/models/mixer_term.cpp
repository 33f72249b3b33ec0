// SPDX-License-Identifier: Apache-2.0
#include "training/models/mixer_term.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mixers/sequence_mixer.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// True if a kind maps states to states. One head as wide as the state is a size that every kind accepts.
bool maps_states(const MixerKind<double>& kind) {
  const MixerOptions options = one_head();
  const MixerSpec spec = kind.spec(options);
  return spec.inputs.size() == 1 && spec.outputs.front().rows() < 0 && spec.outputs.front().cols() == options.width;
}

/// True for kinds that are layers alone: their input is normed or multiplied by itself. So a state that hears itself
/// has no equilibrium near 0 (the block with one of them does not settle).
bool is_layer(const std::string& name) {
  static const std::vector<std::string> layers = {"deltanet", "gated_deltanet", "mamba2", "hyena", "differential"};
  return std::find(layers.begin(), layers.end(), name) != layers.end();
}

Mask mask_of(const MixerChoice& choice, Index tokens) {
  if (choice.bidirectional) return Mask::full(tokens, tokens);
  if (choice.window == 0 || choice.window >= tokens) return Mask::causal(tokens);
  return Mask::causal_window(tokens, choice.window);
}

}  // namespace

const std::vector<std::string>& force_mixers() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& kind : mixer_kinds<double>()) {
      if (maps_states(kind) && !is_layer(kind.name)) all.push_back(kind.name);
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
  if (choice.bidirectional && (spec.only_causal || choice.window > 0)) {
    throw UserError(fmt::format("mixer.mask = bidirectional ({})", spec.only_causal
                                                                       ? choice.kind + " is causal"
                                                                       : "mixer.window is for causal masks. Use all"));
  }
  return spec;
}

template <class S>
Value<S> mixed(const MixerChoice& choice, Value<S> z, const std::vector<Value<S>>& weights) {
  const MixerSpec spec = mixer_spec(choice);
  NUDGE_EXPECT(weights.size() == spec.parameters.size());
  MixerCall<S> call{choice.options, {}, {}, mask_of(choice, z.rows())};
  call.inputs.add(spec.inputs.front().name, z);
  for (std::size_t k = 0; k < weights.size(); ++k) call.parameters.add(spec.parameters[k].name, weights[k]);
  mixer_kind<S>(choice.kind).forward(call);
  return call.outputs.front();
}

bool has_layer_energy(const MixerChoice& choice) {
  return !choice.is_fused() && mixer_kind<double>(choice.kind).energy != nullptr;
}

const std::vector<std::string>& layer_energy_mixers() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const std::string& name : force_mixers()) {
      if (mixer_kind<double>(name).energy != nullptr) all.push_back(name);
    }
    return all;
  }();
  return names;
}

template <class S>
Value<S> mixed_energy(const MixerChoice& choice, Value<S> z, Value<S> context, const std::vector<Value<S>>& weights) {
  const MixerSpec spec = mixer_spec(choice);
  MixerCall<S> call{choice.options, {}, {}, mask_of(choice, z.rows())};
  call.inputs.add("z", z);
  call.inputs.add("context", context);
  for (std::size_t k = 0; k < weights.size(); ++k) call.parameters.add(spec.parameters[k].name, weights[k]);
  return mixer_kind<S>(choice.kind).energy(call);
}

namespace {

/// Reads weights that are numbers by a product.
struct NumberReader final : WeightReader<double> {
  explicit NumberReader(const Matrix<double>& weights) : w(weights) {}
  void read(const WeightPart& part, ConstMatrixRef<double> x, MatrixRef<double> y) override {
    const auto rows = w.middleRows(part.first, part.rows);
    y = part.transposed ? Matrix<double>(x * rows.transpose()) : Matrix<double>(x * rows);
  }
  void read_jvp(const WeightPart&, ConstMatrixRef<double>, ConstMatrixRef<double>, MatrixRef<double>) override {}
  void read_vjp(const WeightPart&, ConstMatrixRef<double>, ConstMatrixRef<double>, MatrixRef<double>) override {}
  void correlate(const WeightPart&, ConstMatrixRef<double>, ConstMatrixRef<double>) override {}
  const Matrix<double>& w;
};

/// True if parameter `which` can be read: the tape refuses every use that is not a read.
bool readable(const MixerChoice& choice, const std::vector<Matrix<double>>& weights, std::size_t which) {
  NumberReader reader(weights[which]);
  Tape<double> tape;
  const Value<double> z = tape.input(Matrix<double>::Ones(2, choice.options.width));
  std::vector<Value<double>> values;
  values.reserve(weights.size());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    values.push_back(k == which ? tape.weights(weights[k], reader) : tape.parameter(weights[k]));
  }
  try {
    mixed(choice, z, values);
  } catch (const ContractViolation&) {
    return false;
  }
  return true;
}

}  // namespace

std::vector<bool> readable_parameters(const MixerChoice& choice) {
  const MixerSpec spec = mixer_spec(choice);
  std::vector<Matrix<double>> weights;
  weights.reserve(spec.parameters.size());
  for (const Field& field : spec.parameters) {
    weights.emplace_back(Matrix<double>::Constant(field.rows(), field.cols(), 0.5) +
                         Matrix<double>::Identity(field.rows(), field.cols()));
  }
  std::vector<bool> all;
  all.reserve(weights.size());
  for (std::size_t k = 0; k < weights.size(); ++k) all.push_back(readable(choice, weights, k));
  return all;
}

template <class S>
std::unique_ptr<Term<S>> mixer_term(int node, Columns at, const MixerChoice& choice, double gain, int first_parameter,
                                    const std::vector<const LinearMap<S>*>& weights) {
  const MixerSpec spec = mixer_spec(choice);
  NUDGE_EXPECT(weights.size() == spec.parameters.size() && at.count == choice.options.width);
  std::vector<typename TapeTerm<S>::Weight> held;
  const std::vector<bool> readable = readable_parameters(choice);
  held.reserve(weights.size());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    held.push_back({first_parameter + static_cast<int>(k), weights[k], readable[k]});
  }
  const auto record = [choice](Tape<S>& /*tape*/, Value<S> z, const std::vector<Value<S>>& values) {
    return mixed(choice, z, values);
  };
  typename TapeTerm<S>::RecordEnergy energy;
  if (has_layer_energy(choice)) {  // the tokens are their own context (eq. 13)
    energy = [choice](Value<S> z, Value<S> /*source*/, const std::vector<Value<S>>& values) {
      return mixed_energy(choice, z, z, values);
    };
  }
  return std::make_unique<TapeTerm<S>>(choice.kind, TapePlace{node, at, node, at, gain, spec.residual ? -1.0 : 0.0},
                                       std::move(held), record, std::move(energy));
}

#define NUDGE_MIXER_TERM(S)                                                                                \
  template Value<S> mixed<S>(const MixerChoice&, Value<S>, const std::vector<Value<S>>&);                  \
  template Value<S> mixed_energy<S>(const MixerChoice&, Value<S>, Value<S>, const std::vector<Value<S>>&); \
  template std::unique_ptr<Term<S>> mixer_term<S>(int, Columns, const MixerChoice&, double, int,           \
                                                  const std::vector<const LinearMap<S>*>&);
NUDGE_BOTH_PRECISIONS(NUDGE_MIXER_TERM)

}  // namespace nudge
