// SPDX-License-Identifier: Apache-2.0
#include "mixers/free_transformer/model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr std::uint32_t kLatents = 1;  ///< entities of the random streams
constexpr std::uint32_t kTokens = 2;

template <class S>
NamedValues<S> bind(Tape<S>& tape, const FreeTransformerShape& shape, const std::vector<Matrix<S>>& parameters) {
  const auto fields = free_transformer_fields(shape);
  NUDGE_EXPECT(fields.size() == parameters.size());
  NamedValues<S> named;
  for (std::size_t k = 0; k < fields.size(); ++k) named.add(fields[k].name, tape.parameter(parameters[k]));
  return named;
}

/// Class drawn from softmax(logits/temperature) with the uniform number u.
template <class S>
int draw(const Matrix<S>& logits, Index row, double temperature, double u) {
  Index best = 0;
  logits.row(row).maxCoeff(&best);
  if (temperature == 0) return static_cast<int>(best);
  const auto top = static_cast<double>(logits(row, best));
  std::vector<double> weight;
  double sum = 0;
  for (Index k = 0; k < logits.cols(); ++k) {
    weight.push_back(std::exp((static_cast<double>(logits(row, k)) - top) / temperature));
    sum += weight.back();
  }
  double left = u * sum;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    left -= weight[k];
    if (left < 0) return static_cast<int>(k);
  }
  return static_cast<int>(best);
}

}  // namespace

std::vector<int> prior_latents(Index tokens, Index bits, std::uint64_t seed, std::uint32_t sequence) {
  std::vector<int> latents;
  latents.reserve(tokens);
  for (Index t = 0; t < tokens; ++t) {
    latents.push_back(
        static_cast<int>(random_below(std::uint64_t(1) << bits, RngKey{seed, Purpose::latent_bits, kLatents}, sequence,
                                      0, static_cast<std::uint32_t>(t))));
  }
  return latents;
}

template <class S>
std::vector<int> prior_latents(Index tokens, Index bits, BitSampler<S>& sampler) {
  std::vector<std::uint8_t> drawn;
  sampler.draw(Matrix<S>::Zero(tokens, bits), drawn);
  return bit_index(drawn, bits);
}

template <class S>
std::vector<int> prefill_latents(const FreeTransformerShape& shape, const std::vector<Matrix<S>>& parameters,
                                 const std::vector<int>& prompt, Index tokens, BitSampler<S>& sampler,
                                 std::uint64_t seed, std::uint32_t sequence) {
  std::vector<int> latents = prior_latents(tokens, shape.bits, seed, sequence);
  if (prompt.empty()) return latents;
  Tape<S> tape;
  const NamedValues<S> named = bind(tape, shape, parameters);
  const FreeTransformer<S> model(shape, named);
  std::vector<std::uint8_t> bits;
  sampler.draw(model.encode(model.lower_half(prompt)).matrix(), bits);
  const std::vector<int> seen = bit_index(bits, shape.bits);
  for (std::size_t t = 0; t < seen.size() && t < latents.size(); ++t) latents[t] = seen[t];
  return latents;
}

template <class S>
std::vector<int> generate(const FreeTransformerShape& shape, const std::vector<Matrix<S>>& parameters,
                          std::vector<int> prompt, const std::vector<int>& latents, double temperature,
                          std::uint64_t seed, std::uint32_t sequence) {
  if (prompt.empty() || prompt.size() > latents.size()) {
    throw UserError(fmt::format("a prompt of {} tokens (must be 1 to the {} tokens of the latents)", prompt.size(),
                                latents.size()));
  }
  if (!(temperature >= 0)) throw UserError(fmt::format("temperature = {} (must be at least 0)", temperature));
  std::vector<double> u(latents.size());
  fill_uniform<double>(RngKey{seed, Purpose::latent_bits, kTokens}, sequence, 0, u);
  DecoderCache<S> cache;
  std::ptrdiff_t seen = 0;
  while (prompt.size() < latents.size()) {
    // The decoder is causal in tokens and latents: what has been seen does not change with what follows.
    Tape<S> tape;
    const NamedValues<S> named = bind(tape, shape, parameters);
    const FreeTransformer<S> model(shape, named);
    const auto known = static_cast<std::ptrdiff_t>(prompt.size());
    const Value<S> r = model.latent(std::vector<int>(latents.begin() + seen, latents.begin() + known));
    const std::vector<int> fresh(prompt.begin() + seen, prompt.end());
    const Value<S> logits = model.upper_half(model.lower_half(fresh, &cache), r, &cache);
    seen = known;
    prompt.push_back(draw(logits.matrix(), logits.rows() - 1, temperature, u[prompt.size()]));
  }
  return prompt;
}

#define NUDGE_GENERATE(S)                                                                                             \
  template std::vector<int> prior_latents<S>(Index, Index, BitSampler<S>&);                                           \
  template std::vector<int> prefill_latents<S>(const FreeTransformerShape&, const std::vector<Matrix<S>>&,            \
                                               const std::vector<int>&, Index, BitSampler<S>&, std::uint64_t,         \
                                               std::uint32_t);                                                        \
  template std::vector<int> generate<S>(const FreeTransformerShape&, const std::vector<Matrix<S>>&, std::vector<int>, \
                                        const std::vector<int>&, double, std::uint64_t, std::uint32_t);
NUDGE_BOTH_PRECISIONS(NUDGE_GENERATE)

}  // namespace nudge
