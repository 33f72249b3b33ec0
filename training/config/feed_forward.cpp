// SPDX-License-Identifier: Apache-2.0
#include "training/config/feed_forward.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "training/models/model_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

using Settings = std::vector<std::string>;

/// Of the parameters between the tables and the read-out, which does not depend on how many symbols there are.
Index inner_weights(const Config& config) {
  const auto tokens = static_cast<Index>(config.integer("model.tokens"));
  const auto plan = network_plan(config, {.rows = tokens, .symbols = 2});
  const std::vector<Parameter> all = plan->parameters();
  Index count = 0;
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].table || static_cast<int>(p) == plan->readout().parameter) continue;
    count += all[p].shape.rows * all[p].shape.cols;
  }
  return count;
}

Settings of_symbols(const Config& config) {
  const std::string& kind = config.text("network.kind");
  const bool is_one = kind == "transformer";
  const Index layers = is_one ? static_cast<Index>(config.integer("transformer.layers"))
                              : (kind == "stack" ? static_cast<Index>(config.integer("stack.layers")) : 1);
  const Index c = model_options(config).channels;
  const Index hidden = std::max<Index>(1, (inner_weights(config) / layers - 4 * c * c + c) / (2 * c));
  Settings out{"network.kind=transformer",
               fmt::format("transformer.layers={}", layers),
               "transformer.mixer=attention",
               "transformer.feedback=0",
               fmt::format("model.memories={}", hidden),
               "model.mixer=attention",
               "model.memory_arrays=1",
               "model.coupling_scale=0"};
  if (!is_one) {
    out.emplace_back("transformer.loops=1");
    out.emplace_back("transformer.positions=learned");
  }
  return out;
}

Settings of_features(const Config& config) {
  const std::string& kind = config.text("network.kind");
  Settings out{"hopfield.form=projected", "hopfield.feedback=none"};
  const auto fits = [&config](const char* key, auto... boxes) { return ((config.text(key) == boxes) || ...); };
  if (kind == "resistive" || !fits("hopfield.activation", "hard_sigmoid", "relu"))
    out.emplace_back("hopfield.activation=relu");
  if (kind == "resistive" || !fits("hopfield.output_activation", "hard_sigmoid", "relu", "identity", "auto"))
    out.emplace_back("hopfield.output_activation=identity");
  if (kind != "resistive") return out;
  out.emplace_back("network.kind=hopfield");
  out.emplace_back("hopfield.cost=squared_error");
  out.push_back(fmt::format("hopfield.hidden=[{}]", fmt::join(config.integers("resistive.hidden"), ", ")));
  return out;
}

}  // namespace

Settings feed_forward_settings(const Config& config) {
  Settings out = network_kind(config).takes == Rows::symbols ? of_symbols(config) : of_features(config);
  for (const char* setting :
       {"device.model=digital", "model.embeddings=digital", "relaxation.solver=euler", "relaxation.schedule=sweep",
        "relaxation.step=1", "relaxation.free_steps=1", "relaxation.average_free=1", "relaxation.nudged_steps=1",
        "relaxation.average_nudged=1", "nudge.cost_current=live", "memory_bound.fraction=off", "damping.control=false",
        "circuit.gain_bandwidth=infinite", "circuit.amplifier_bandwidth=auto",
        "estimator=bptt"}) {  // behind what it leaves unread
    out.emplace_back(setting);
  }
  if (!model_options(config).weights.empty()) out.emplace_back("model.weights=");  // of another network
  return out;
}

Config feed_forward_config(const Config& config) {
  Config out = config;
  for (const std::string& setting : feed_forward_settings(config)) {
    const std::size_t equals = setting.find('=');
    out.set_from_text(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return out;
}

}  // namespace nudge
