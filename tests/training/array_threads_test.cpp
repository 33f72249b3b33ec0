// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "sim/base/parallel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/characters.hpp"

using namespace nudge;

namespace {

/// A small model on arrays with everything that works on threads: writing with spread and noise, wires, drift, two tiles.
Config config_with(int threads) {
  return parse_program_config("test", R"(
seed = 5
[model]
tokens = 4
channels = 8
memories = 12
heads = 2
[device]
model = "soft_bounds"
update = "pulsed"
update_noise = 0.3
[crossbar]
row_resistance = "2 ohm"
column_resistance = "2 ohm"
tile_rows = 5
)",
                              {"threads=" + std::to_string(threads)});
}

/// Weights of every array as programmed and after one update.
std::vector<Matrix<float>> weights_of(const Config& config) {
  const auto model = make_network<float>(config, network_plan(config, character_sizes(config, 7)), Weights::configured);
  std::vector<Matrix<float>> all;
  for (int p = 0; p < model->parameters(); ++p) {
    LinearMap<float>& map = model->map(p);
    all.push_back(map.weights());
    if (map.weights().size() == 0) continue;
    const auto delta = test::random_matrix<float>(map.weights().rows(), map.weights().cols(), 9);
    map.apply_update(0.01F * delta);
    all.push_back(map.weights());
  }
  return all;
}

bool same_bits(const std::vector<Matrix<float>>& a, const std::vector<Matrix<float>>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = (a[i].array() == b[i].array()).all();
  return same;
}

}  // namespace

TEST_CASE("the arrays of a run work on the threads of the config, 0 being all", "[training]") {
  CHECK(model_arrays(config_with(1)).threads == 1);
  CHECK(model_arrays(config_with(3)).threads == 3);
  CHECK(model_arrays(config_with(0)).threads == thread_count(0));
}

TEST_CASE("arrays have the same bits for any number of threads, at the top level and in a parallel loop",
          "[training]") {
  const std::vector<Matrix<float>> one = weights_of(config_with(1));
  CHECK(same_bits(one, weights_of(config_with(2))));
  CHECK(same_bits(one, weights_of(config_with(5))));
  std::vector<std::vector<Matrix<float>>> within(4);
  parallel_for(4, 2, [&](Index i, int) { within[static_cast<std::size_t>(i)] = weights_of(config_with(3)); });
  for (const auto& each : within) CHECK(same_bits(one, each));
}
