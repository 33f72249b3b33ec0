// SPDX-License-Identifier: Apache-2.0
#include "training/language_model.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "circuits/terms/causal_attention.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

template <class S>
std::vector<std::unique_ptr<ForceTerm<S>>> founding_terms(const ModelShape& shape, double gain, LinearMap<S>& output) {
  std::vector<std::unique_ptr<ForceTerm<S>>> terms;
  terms.push_back(std::make_unique<CausalAttention<S>>(shape.channels, shape.heads, static_cast<S>(gain),
                                                       ParameterId::output, output));
  terms.push_back(std::make_unique<HopfieldMemory<S>>(shape.memories));
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

template <class S>
LanguageModel<S>::LanguageModel(const ModelShape& shape, BlockLeak leak, std::vector<Map> maps)
    : shape_(shape),
      maps_(std::move(maps)),
      block_(shape.channels,
             founding_terms<S>(shape, leak.gain, *maps_.at(static_cast<std::size_t>(ParameterId::output))),
             ParameterId::input, *maps_.at(static_cast<std::size_t>(ParameterId::input)), leak) {
  NUDGE_EXPECT(static_cast<int>(maps_.size()) == ParameterId::count);
}

template <class S>
std::vector<ParameterGroup> LanguageModel<S>::groups() const {
  const Index c = shape_.channels;
  using Id = ParameterId;
  return {{"tok", Id::tok, {0, c}},
          {"pos", Id::pos, {0, c}},
          {"Wm", Id::input, {3 * c, shape_.memories}},
          {"Wq", Id::input, {0, c}},
          {"Wk", Id::input, {c, c}},
          {"Wv", Id::input, {2 * c, c}},
          {"Wo", Id::output, {0, c}},
          {"Wh", Id::readout, {0, shape_.vocabulary}}};
}

template <class S>
std::vector<ParameterShape> LanguageModel<S>::parameter_shapes() const {
  std::vector<ParameterShape> shapes;
  for (const auto& map : maps_) shapes.push_back({map->inputs(), map->outputs()});
  return shapes;
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

template <class S>
std::vector<Matrix<S>> initial_weights(const ModelShape& shape, const InitialScales& scales, std::uint64_t seed) {
  const Index c = shape.channels;
  const double per_channel = 1.0 / std::sqrt(static_cast<double>(c));
  std::vector<Matrix<S>> weights;
  weights.push_back(normal_matrix<S>(shape.vocabulary, c, scales.embedding, seed, 0));
  weights.push_back(normal_matrix<S>(shape.tokens, c, scales.embedding, seed, 1));
  Matrix<S> input(c, 3 * c + shape.memories);
  input.leftCols(3 * c) = normal_matrix<S>(c, 3 * c, scales.attention * per_channel, seed, 2);
  const Matrix<double> memory = normal_matrix<double>(c, shape.memories, 1.0, seed, 3);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> gram(memory * memory.transpose(), Eigen::EigenvaluesOnly);
  const double norm = gram.eigenvalues().maxCoeff();
  input.rightCols(shape.memories) = (scales.memory / std::sqrt(norm) * memory).template cast<S>();
  weights.push_back(std::move(input));
  weights.push_back(normal_matrix<S>(c, c, scales.output * per_channel, seed, 4));
  weights.push_back(normal_matrix<S>(c, shape.vocabulary, per_channel, seed, 5));
  return weights;
}

#define NUDGE_INSTANTIATE(S)       \
  template class LanguageModel<S>; \
  template std::vector<Matrix<S>> initial_weights<S>(const ModelShape&, const InitialScales&, std::uint64_t);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
