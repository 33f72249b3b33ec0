// SPDX-License-Identifier: Apache-2.0
#include "circuits/linear_map_factory.hpp"

#include "circuits/crossbar/column_scale.hpp"
#include "circuits/digital_matrix.hpp"
#include "circuits/rules/ruled_map.hpp"
#include "circuits/token_maps.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// Replica t of a matrix is array id + t · 2¹⁸; those of an update rule are id, id + 2¹⁶, …. Replica 0 is the array that
// the matrix has without replicas.
constexpr std::uint32_t replica_stride = std::uint32_t{1} << 18U;
constexpr Index most_replicas = Index{1} << 14;

template <class S>
std::unique_ptr<LinearMap<S>> make_array(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id,
                                         std::uint64_t seed) {
  if (spec.mapping.scale == ScalePolicy::column) {
    CrossbarSpec own = spec;
    own.mapping.scale = ScalePolicy::keep;
    const Matrix<S> scales = column_scales(weights);
    return std::make_unique<ColumnScaledMap<S>>(make_array(own, without_scales(weights, scales), id, seed), scales);
  }
  if (find_rule(spec.programming.update) != nullptr) return std::make_unique<RuledMap<S>>(spec, weights, id, seed);
  return std::make_unique<Crossbar<S>>(spec, weights, id, seed);
}

}  // namespace

template <class S>
std::unique_ptr<LinearMap<S>> make_linear_map(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id,
                                              std::uint64_t seed) {
  if (spec.device.model == digital_model) return std::make_unique<DigitalMatrix<S>>(weights);
  const TokenSpec& tokens = spec.tokens;
  if (tokens.use == TokenUse::replicated && tokens.count > 1) {
    if (tokens.count > most_replicas) {
      throw UserError("circuit.tokens = \"replicated\": " + std::to_string(tokens.count) + " tokens (at most " +
                      std::to_string(most_replicas) + " replicas of an array)");
    }
    std::vector<std::unique_ptr<LinearMap<S>>> replicas;
    replicas.reserve(tokens.count);
    for (Index t = 0; t < tokens.count; ++t) {
      replicas.push_back(make_array(spec, weights, id + static_cast<std::uint32_t>(t) * replica_stride, seed));
    }
    return std::make_unique<ReplicatedMap<S>>(std::move(replicas));
  }
  std::unique_ptr<LinearMap<S>> array = make_array(spec, weights, id, seed);
  const double share = tokens.held_share();
  if (share == 1) return array;
  return std::make_unique<HeldMap<S>>(std::move(array), share);
}

void validate_linear_map(const CrossbarSpec& spec) {
  if (spec.device.model != digital_model) spec.validate();
}

template std::unique_ptr<LinearMap<float>> make_linear_map(const CrossbarSpec&, const Matrix<float>&, std::uint32_t,
                                                           std::uint64_t);
template std::unique_ptr<LinearMap<double>> make_linear_map(const CrossbarSpec&, const Matrix<double>&, std::uint32_t,
                                                            std::uint64_t);

}  // namespace nudge
