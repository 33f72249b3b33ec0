// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/catch.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/run_parts.hpp"
#include "training/models/layer_rates.hpp"
#include "training/train/equilibrium_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

/// Changes of all parameters in one step of a small network.
std::vector<Matrix<double>> changes(const std::string& kind, const std::vector<std::string>& settings) {
  const Config config = small(kind, settings);
  const RunParts parts = run_parts(config);
  EquilibriumRun<double> run(config, parts.plan, "", Weights::configured);
  std::vector<Matrix<double>> all;
  for (int p = 0; p < run.network().parameters(); ++p) all.push_back(run.network().map(p).weights());
  run.step(0, parts.task->training(0));
  for (int p = 0; p < run.network().parameters(); ++p) {
    all[static_cast<std::size_t>(p)] = run.network().map(p).weights() - all[static_cast<std::size_t>(p)];
  }
  return all;
}

}  // namespace

TEST_CASE("train.layer_rates scales what a layer learns, and 0 holds it") {
  for (const std::string kind : {"hopfield", "convolutional", "resistive", "oscillator", "predictive_coding"}) {
    for (const std::string optimizer : {"sgd", "adam"}) {
      CAPTURE(kind, optimizer);
      const std::vector<std::string> base{"train.optimizer=" + optimizer, "train.weight_decay=0.01"};
      const Config config = small(kind, base);
      const std::vector<Parameter> parameters = run_parts(config).plan->parameters();
      int layers = 0;
      for (const Parameter& one : parameters) layers = std::max(layers, one.layer);
      REQUIRE(layers >= 2);
      std::vector<double> factors(static_cast<std::size_t>(layers), 0.5);
      factors.back() = 0;
      auto with = base;
      with.push_back(fmt::format("train.layer_rates=[{}]", fmt::join(factors, ", ")));
      const auto whole = changes(kind, base), scaled = changes(kind, with);
      for (std::size_t p = 0; p < parameters.size(); ++p) {
        CAPTURE(parameters[p].name);
        REQUIRE(parameters[p].layer >= 1);
        const double factor = factors[static_cast<std::size_t>(parameters[p].layer - 1)];
        CHECK((scaled[p] - factor * whole[p]).norm() <= 1e-12 * (1 + whole[p].norm()));
      }
    }
  }
}

TEST_CASE("train.layer_rates holds devices too, and is refused where it does not fit") {
  const auto on_devices = changes("hopfield", {"device.preset=ecram", "train.layer_rates=[1, 0]"});
  CHECK(on_devices[0].norm() > 0);
  CHECK(on_devices[1].norm() == 0);
  CHECK_THROWS_WITH(run_parts(small("hopfield", {"train.layer_rates=[1]"})),
                    Contains("train.layer_rates has 1 (must be 2: one for the weights of each layer)"));
  CHECK_THROWS_WITH(run_parts(small("hopfield", {"hopfield.cost=cross_entropy", "train.layer_rates=[1, 1, 1]"})),
                    Contains("must be 2"));  // W1 and the read-out
  CHECK_THROWS_WITH(small("block", {"train.layer_rates=[1]"}), Contains("train.layer_rates"));
}
