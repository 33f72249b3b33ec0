// SPDX-License-Identifier: Apache-2.0
#include "training/models/block/block_plan.hpp"

#include <cmath>

#include "circuits/terms/coupling.hpp"
#include "sim/base/decompositions.hpp"

namespace nudge {
namespace {

/// Makes the input array with the terms that read it.
template <class S>
std::unique_ptr<SharedArray<S>> input_array(const ModelShape& shape, double gain, const Maps<S>& maps) {
  auto array = std::make_unique<SharedArray<S>>(0, Columns{0, shape.channels}, BlockParameter::input,
                                                *maps.at(BlockParameter::input));
  if (shape.mixer.is_fused()) {
    array->template place<CausalAttention<S>>(3 * shape.channels, shape.heads, static_cast<S>(gain),
                                              BlockParameter::output, *maps.at(BlockParameter::output),
                                              drawn_attention<S>(shape.attention, shape.tokens, shape.heads, 0));
  }
  if (shape.coupling) array->template place<Coupling<S>>(shape.channels);
  if (shape.memories > 0 && shape.memory_arrays == 2) {
    const std::size_t back = maps.size() - 2;
    array->template place<TwoArrayMemory<S>>(shape.memories, static_cast<int>(back), *maps.at(back), shape.correction);
  } else if (shape.memories > 0) {
    array->template place<HopfieldMemory<S>>(shape.memories);
  }
  return array;
}

template <class S>
std::vector<std::unique_ptr<Term<S>>> block_terms(const ModelShape& shape, double gain, const Maps<S>& maps) {
  std::vector<std::unique_ptr<Term<S>>> terms;
  if (!shape.mixer.is_fused()) {
    std::vector<const LinearMap<S>*> weights;
    const std::size_t after = maps.size() - (shape.memory_arrays == 2 ? 2 : 1);
    for (std::size_t p = BlockParameter::output; p < after; ++p) weights.push_back(maps[p].get());
    terms.push_back(mixer_term<S>(0, {0, shape.channels}, shape.mixer, gain, BlockParameter::output, weights));
  }
  terms.push_back(input_array<S>(shape, gain, maps));
  return terms;
}

}  // namespace

BlockPlan::BlockPlan(const ModelShape& shape, const InitialScales& scales, Damping damping)
    : shape_(shape), scales_(scales), damping_(damping) {
  if (shape.mixer.is_fused()) return;
  mixer_ = mixer_spec(shape.mixer).parameters;
  readable_ = readable_parameters(shape.mixer);
}

std::vector<Node> BlockPlan::nodes() const { return {{"z", {0, shape_.channels}, 1.0, true, true}}; }

std::vector<Parameter> BlockPlan::parameters() const {
  const Index c = shape_.channels;
  const bool fused = shape_.mixer.is_fused();
  std::vector<Parameter> all = {
      table_parameter("tok", {shape_.vocabulary, c}, shape_.tables_on_devices),
      table_parameter("pos", {shape_.tokens, c}, shape_.tables_on_devices),
      {"Winput", {c, (fused ? 3 * c : 0) + (shape_.coupling ? c : 0) + shape_.memories}, true}};
  if (fused) {
    all.push_back({"Wo", {c, c}, true});
  } else {
    for (std::size_t k = 0; k < mixer_.size(); ++k) {
      all.push_back({mixer_[k].name, {mixer_[k].rows(), mixer_[k].cols()}, readable_[k]});
    }
  }
  if (shape_.memory_arrays == 2) all.push_back({"Wr", {shape_.memories, c}, true});
  all.push_back({"Wh", {c, shape_.vocabulary}, true});
  return all;
}

std::vector<ParameterGroup> BlockPlan::groups() const {
  const Index c = shape_.channels;
  using Id = BlockParameter;
  const std::vector<Parameter> all = parameters();
  const Index before_memory = all[Id::input].shape.cols - shape_.memories;
  std::vector<ParameterGroup> groups = {{"tok", Id::tok, {0, c}}, {"pos", Id::pos, {0, c}}};
  if (shape_.memories > 0) groups.push_back({"Wm", Id::input, {before_memory, shape_.memories}});
  if (shape_.coupling) groups.push_back({"Wc", Id::input, {before_memory - c, c}});
  if (shape_.mixer.is_fused()) {
    groups.push_back({"Wq", Id::input, {0, c}});
    groups.push_back({"Wk", Id::input, {c, c}});
    groups.push_back({"Wv", Id::input, {2 * c, c}});
  }
  for (std::size_t p = Id::output; p < all.size(); ++p) {
    groups.push_back({all[p].name, static_cast<int>(p), {0, all[p].shape.cols}, p + 1 == all.size()});
  }
  return groups;
}

std::vector<Gates> BlockPlan::gates() const {
  if (shape_.memories == 0) return {};
  const Index columns = parameters()[BlockParameter::input].shape.cols;
  return {{{0, shape_.channels}, BlockParameter::input, {columns - shape_.memories, shape_.memories}}};
}

std::vector<WeightBound> BlockPlan::bounds() const {
  if (shape_.memories == 0) return {};
  const Columns memory = gates().front().columns;
  return {{BlockParameter::input, memory, shape_.memory_arrays == 2 ? readout().parameter - 1 : -1}};
}

std::vector<std::unique_ptr<Term<float>>> BlockPlan::terms(const Maps<float>& maps) const {
  return block_terms<float>(shape_, damping_.gain, maps);
}
std::vector<std::unique_ptr<Term<double>>> BlockPlan::terms(const Maps<double>& maps) const {
  return block_terms<double>(shape_, damping_.gain, maps);
}
void BlockPlan::initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const {
  weights = initial_weights<float>(shape_, scales_, seed);
}
void BlockPlan::initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const {
  weights = initial_weights<double>(shape_, scales_, seed);
}

template <class S>
std::unique_ptr<Network<S>> block_network(const ModelShape& shape, Damping damping, Maps<S> maps) {
  return std::make_unique<Network<S>>(std::make_shared<BlockPlan>(shape, InitialScales{}, damping), std::move(maps));
}

namespace {

/// Numbers of the random streams; those of a mixer's weights follow `mixer`.
enum Stream : std::uint32_t { tok, pos, attention, memory, output, readout, mixer, coupling = 1u << 16 };

/// Draws W_m with the given spectral norm.
template <class S>
Matrix<S> memory_matrix(const ModelShape& shape, double norm, std::uint64_t seed) {
  const Matrix<double> w = normal_matrix<double>(shape.channels, shape.memories, 1.0, seed, Stream::memory);
  const double largest = symmetric_eigenvalues(w * w.transpose()).maxCoeff();
  return (norm / std::sqrt(largest) * w).template cast<S>();
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
    weights.push_back(weights[BlockParameter::input].rightCols(shape.memories).transpose());
  }
  weights.push_back(normal_matrix<S>(c, shape.vocabulary, per_channel, seed, Stream::readout));
  return weights;
}

#define NUDGE_BLOCK_PLAN(S)                                                                   \
  template std::unique_ptr<Network<S>> block_network<S>(const ModelShape&, Damping, Maps<S>); \
  template std::vector<Matrix<S>> initial_weights<S>(const ModelShape&, const InitialScales&, std::uint64_t);
NUDGE_BOTH_PRECISIONS(NUDGE_BLOCK_PLAN)

}  // namespace nudge
