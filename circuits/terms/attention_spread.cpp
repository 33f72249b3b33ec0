// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/causal_attention.hpp"

#include "sim/base/rng.hpp"

namespace nudge {
namespace {

/// Number from which on these cells are numbered; smaller ones belong to units of nodes.
constexpr std::uint32_t kCells = 1u << 16U;

/// Draws for every head a matrix of σ times standard normal numbers; nothing if σ is 0. lane: stream of the numbers.
std::vector<Matrix<double>> drawn_heads(double sigma, Index tokens, Index heads, const RngKey& key,
                                        std::uint32_t lane) {
  std::vector<Matrix<double>> all;
  for (Index head = 0; sigma > 0 && head < heads; ++head) {
    Matrix<double>& one = all.emplace_back(tokens, tokens);
    fill_normal<double>(key, static_cast<std::uint64_t>(head), lane,
                        {one.data(), static_cast<std::size_t>(one.size())});
    one *= sigma;
  }
  return all;
}

template <class S>
std::vector<Matrix<S>> factors(const std::vector<Matrix<double>>& deviations) {
  std::vector<Matrix<S>> all;
  for (const Matrix<double>& one : deviations) {
    all.push_back((1 + one.array().max(-0.5).min(0.5)).matrix().template cast<S>());
  }
  return all;
}

}  // namespace

template <class S>
std::shared_ptr<const AttentionSpread<S>> drawn_attention(const AttentionErrors& errors, Index tokens, Index heads,
                                                          std::uint32_t number) {
  if (!errors.analog) return nullptr;
  const RngKey key{errors.seed, Purpose::unit_spread, kCells + number};
  auto spread = std::make_shared<AttentionSpread<S>>();
  spread->score_gain = factors<S>(drawn_heads(errors.gain_spread, tokens, heads, key, 0));
  spread->value_gain = factors<S>(drawn_heads(errors.gain_spread, tokens, heads, key, 1));
  for (const Matrix<double>& one : drawn_heads(errors.offset_spread, tokens, heads, key, 2)) {
    spread->score_offset.push_back(one.cast<S>());
  }
  return spread;
}

template std::shared_ptr<const AttentionSpread<float>> drawn_attention<float>(const AttentionErrors&, Index, Index,
                                                                              std::uint32_t);
template std::shared_ptr<const AttentionSpread<double>> drawn_attention<double>(const AttentionErrors&, Index, Index,
                                                                                std::uint32_t);

}  // namespace nudge
