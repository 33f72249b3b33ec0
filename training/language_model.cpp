// SPDX-License-Identifier: Apache-2.0
#include "training/language_model.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "circuits/terms/causal_attention.hpp"
#include "circuits/terms/coupling.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

template <class S>
using Maps = std::vector<std::unique_ptr<LinearMap<S>>>;

/// The terms that read the input array.
template <class S>
std::vector<std::unique_ptr<ForceTerm<S>>> array_terms(const ModelShape& shape, double gain, const Maps<S>& maps) {
  std::vector<std::unique_ptr<ForceTerm<S>>> terms;
  if (shape.mixer.is_fused()) {
    terms.push_back(std::make_unique<CausalAttention<S>>(shape.channels, shape.heads, static_cast<S>(gain),
                                                         ParameterId::force, *maps.at(ParameterId::force)));
  }
  if (shape.coupling) terms.push_back(std::make_unique<Coupling<S>>(shape.channels));
  if (shape.memories > 0 && shape.memory_arrays == 2) {
    const std::size_t back = maps.size() - 2;
    terms.push_back(
        std::make_unique<TwoArrayMemory<S>>(shape.memories, static_cast<int>(back), *maps.at(back), shape.correction));
  } else if (shape.memories > 0) {
    terms.push_back(std::make_unique<HopfieldMemory<S>>(shape.memories));
  }
  return terms;
}

template <class S>
std::vector<std::unique_ptr<StateTerm<S>>> state_terms(const ModelShape& shape, double gain, const Maps<S>& maps) {
  std::vector<std::unique_ptr<StateTerm<S>>> terms;
  if (shape.mixer.is_fused()) return terms;
  std::vector<const LinearMap<S>*> weights;
  const std::size_t after = maps.size() - (shape.memory_arrays == 2 ? 2 : 1);
  for (std::size_t p = ParameterId::force; p < after; ++p) weights.push_back(maps[p].get());
  terms.push_back(
      std::make_unique<MixerTerm<S>>(shape.mixer, static_cast<S>(gain), ParameterId::force, std::move(weights)));
  return terms;
}

template <class S>
Matrix<S> normal_matrix(Index rows, Index cols, double scale, std::uint64_t seed, std::uint32_t entity) {
  Matrix<double> values(rows, cols);
  fill_normal<double>({seed, Purpose::weight_init, entity}, 0, 0,
                      std::span<double>(values.data(), static_cast<std::size_t>(values.size())));
  return (scale * values).template cast<S>();
}

}  // namespace

std::vector<Parameter> parameters_of(const ModelShape& shape) {
  const Index c = shape.channels;
  const bool fused = shape.mixer.is_fused();
  std::vector<Parameter> all = {{"tok", {shape.vocabulary, c}},
                                {"pos", {shape.tokens, c}},
                                {"Winput", {c, (fused ? 3 * c : 0) + (shape.coupling ? c : 0) + shape.memories}, true}};
  if (fused) {
    all.push_back({"Wo", {c, c}, true});
  } else {
    for (const Field& field : mixer_spec(shape.mixer).parameters) {
      all.push_back({field.name, {field.rows(), field.cols()}});
    }
  }
  if (shape.memory_arrays == 2) all.push_back({"Wr", {shape.memories, c}, true});
  all.push_back({"Wh", {c, shape.vocabulary}, true});
  return all;
}

template <class S>
LanguageModel<S>::LanguageModel(const ModelShape& shape, BlockLeak leak, std::vector<Map> maps)
    : shape_(shape),
      maps_(std::move(maps)),
      block_(shape.channels, array_terms<S>(shape, leak.gain, maps_), ParameterId::input, *maps_.at(ParameterId::input),
             leak, state_terms<S>(shape, leak.gain, maps_)) {
  NUDGE_EXPECT(maps_.size() == parameters_of(shape).size());
}

template <class S>
std::vector<ParameterGroup> LanguageModel<S>::groups() const {
  const Index c = shape_.channels;
  using Id = ParameterId;
  const Index before_memory = map(Id::input).outputs() - shape_.memories;
  std::vector<ParameterGroup> all = {{"tok", Id::tok, {0, c}}, {"pos", Id::pos, {0, c}}};
  if (shape_.memories > 0) all.push_back({"Wm", Id::input, {before_memory, shape_.memories}});
  if (shape_.coupling) all.push_back({"Wc", Id::input, {before_memory - c, c}});
  if (shape_.mixer.is_fused()) {
    all.push_back({"Wq", Id::input, {0, c}});
    all.push_back({"Wk", Id::input, {c, c}});
    all.push_back({"Wv", Id::input, {2 * c, c}});
  }
  const auto names = parameter_names();
  for (int p = Id::force; p < parameters(); ++p) {
    all.push_back({names[static_cast<std::size_t>(p)], p, map(p).all_columns()});
  }
  return all;
}

template <class S>
std::vector<ParameterShape> LanguageModel<S>::parameter_shapes() const {
  std::vector<ParameterShape> shapes;
  for (const auto& map : maps_) shapes.push_back({map->inputs(), map->outputs()});
  return shapes;
}

template <class S>
std::vector<std::string> LanguageModel<S>::parameter_names() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters_of(shape_)) names.push_back(parameter.name);
  return names;
}

template <class S>
void LanguageModel<S>::embed(std::span<const int> indices, MatrixRef<S> x) const {
  const Matrix<S>& tok = map(ParameterId::tok).weights();
  const Matrix<S>& pos = map(ParameterId::pos).weights();
  for (Index t = 0; t < shape_.tokens; ++t) {
    x.row(t) = tok.row(indices[static_cast<std::size_t>(t)]) + pos.row(t);
  }
}

template <class S>
void LanguageModel<S>::accumulate_embedding(std::span<const int> indices, ConstMatrixRef<S> x_gradient,
                                            Gradient<S>& gradient) const {
  for (Index t = 0; t < shape_.tokens; ++t) {
    gradient[ParameterId::tok].row(indices[static_cast<std::size_t>(t)]) += x_gradient.row(t);
    gradient[ParameterId::pos].row(t) += x_gradient.row(t);
  }
}

namespace {

/// Numbers of the random streams; those of a mixer's weights follow `mixer`.
enum Stream : std::uint32_t { tok, pos, attention, memory, output, readout, mixer, coupling = 1u << 16 };

/// W_m with the given spectral norm.
template <class S>
Matrix<S> memory_matrix(const ModelShape& shape, double norm, std::uint64_t seed) {
  const Matrix<double> w = normal_matrix<double>(shape.channels, shape.memories, 1.0, seed, Stream::memory);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> gram(w * w.transpose(), Eigen::EigenvaluesOnly);
  return (norm / std::sqrt(gram.eigenvalues().maxCoeff()) * w).template cast<S>();
}

template <class S>
void add_mixer_weights(const MixerChoice& choice, std::uint64_t seed, std::vector<Matrix<S>>& weights) {
  std::uint32_t stream = Stream::mixer;
  for (const Field& field : mixer_spec(choice).parameters) {
    weights.push_back(
        normal_matrix<S>(field.rows(), field.cols(), choice.initial_scale * field.deviation, seed, stream));
    weights.back().array() += static_cast<S>(field.mean);
    ++stream;
  }
}

}  // namespace

template <class S>
std::vector<Matrix<S>> initial_weights(const ModelShape& shape, const InitialScales& scales, std::uint64_t seed) {
  const Index c = shape.channels;
  const bool fused = shape.mixer.is_fused();
  const double per_channel = 1.0 / std::sqrt(static_cast<double>(c));
  std::vector<Matrix<S>> weights;
  weights.push_back(normal_matrix<S>(shape.vocabulary, c, scales.embedding, seed, Stream::tok));
  weights.push_back(normal_matrix<S>(shape.tokens, c, scales.embedding, seed, Stream::pos));
  const Index projections = fused ? 3 * c : 0;
  const Index coupled = shape.coupling ? c : 0;
  Matrix<S> input(c, projections + coupled + shape.memories);
  if (fused)
    input.leftCols(projections) =
        normal_matrix<S>(c, projections, scales.attention * per_channel, seed, Stream::attention);
  if (shape.coupling) {
    const Matrix<S> pattern = normal_matrix<S>(c, c, scales.coupling * per_channel, seed, Stream::coupling);
    input.middleCols(projections, c) = coupling_matrix(pattern, scales.symmetric, scales.antisymmetric);
  }
  if (shape.memories > 0) input.rightCols(shape.memories) = memory_matrix<S>(shape, scales.memory, seed);
  weights.push_back(std::move(input));
  if (fused) {
    weights.push_back(normal_matrix<S>(c, c, scales.output * per_channel, seed, Stream::output));
  } else {
    add_mixer_weights<S>(shape.mixer, seed, weights);
  }
  if (shape.memory_arrays == 2) {
    weights.push_back(weights[ParameterId::input].rightCols(shape.memories).transpose());
  }
  weights.push_back(normal_matrix<S>(c, shape.vocabulary, per_channel, seed, Stream::readout));
  return weights;
}

#define NUDGE_INSTANTIATE(S)       \
  template class LanguageModel<S>; \
  template std::vector<Matrix<S>> initial_weights<S>(const ModelShape&, const InitialScales&, std::uint64_t);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
