// SPDX-License-Identifier: Apache-2.0
#include "training/experiments/bit_source.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

const std::vector<std::string>& bit_source_names() {
  static const std::vector<std::string> names = {"pseudo_random"};
  return names;
}

template <class S>
std::shared_ptr<BitSampler<S>> make_bit_source(const Config& config, std::uint64_t seed) {
  if (config.text("experiment.sampler") == "pseudo_random") return std::make_shared<PseudoRandomBits<S>>(seed, 0, 0);
  throw ContractViolation("a bit source without its constructor");
}

template std::shared_ptr<BitSampler<float>> make_bit_source<float>(const Config&, std::uint64_t);
template std::shared_ptr<BitSampler<double>> make_bit_source<double>(const Config&, std::uint64_t);

}  // namespace nudge
