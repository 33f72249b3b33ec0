// SPDX-License-Identifier: Apache-2.0
#include "training/models/layer_rates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/errors.hpp"
#include "sim/config/reading.hpp"
#include "sim/config/section.hpp"
#include "training/models/model_options.hpp"

namespace nudge {
namespace {

struct LayerRateOptions {
  std::vector<double> factors;
};

const Section<LayerRateOptions>& layer_rate_section() {
  static const Section<LayerRateOptions> section = {field(
      param::reals("train.layer_rates", "[]", at_least(0),
                   "Factors of train.learning_rate, one for the weights and biases of each layer, from the sample "
                   "up; a read-out is the last. Empty: 1 for all.",
                   "Scellier and Bengio, arXiv:1602.05179, table 1, have such rates"),
      &LayerRateOptions::factors)};
  return section;
}

}  // namespace

ParamTable layer_keys(const ParamTable& rows) {
  ParamTable all = with_weights(rows);
  add_rows(all, layer_rate_section().rows());
  return all;
}

std::vector<double> layer_rates(const Config& config, const std::vector<Parameter>& parameters) {
  const std::vector<double> factors = layer_rate_section().read(config).factors;
  std::vector<double> all(parameters.size(), 1.0);
  if (factors.empty()) return all;
  int layers = 0;
  for (const Parameter& one : parameters) layers = std::max(layers, one.layer);
  if (static_cast<int>(factors.size()) != layers) {
    throw UserError(fmt::format("train.layer_rates has {} (must be {}: one for the weights of each layer)",
                                factors.size(), layers));
  }
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (parameters[p].layer > 0) all[p] = factors[static_cast<std::size_t>(parameters[p].layer - 1)];
  }
  return all;
}

}  // namespace nudge
