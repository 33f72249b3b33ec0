// SPDX-License-Identifier: Apache-2.0
// A step of equilibrium propagation on a deep resistive network, per sample, beside its products alone; see bench/README.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/fastest_product.hpp"
#include "bench/measure.hpp"
#include "training/config/config_table.hpp"
#include "training/data/sample_task.hpp"
#include "training/models/registry.hpp"
#include "training/train/equilibrium_run.hpp"

namespace nudge::bench {
namespace {

constexpr int kSweeps = 4;        // of every phase, as in the published runs of this size
constexpr double kEpoch = 60000;  // samples
constexpr float kBeta = 1.0F, kGain = 100.0F, kRate = 0.006F;

/// Step as nudge train does it: the network as a circuit, with the norm and the energy of its log.
struct Step {
  Config config;
  EquilibriumRun<float> trainee;
  Batch data;
  std::uint64_t number = 0;

  Step(const std::vector<Index>& widths, Index batch)
      : config(parse_program_config(
            "bench", "",
            {"network.kind=resistive", "task.kind=classification", "estimator=ep_contrastive",
             fmt::format("beta={}", kBeta), fmt::format("resistive.hidden=[{}]", widths[1]),
             fmt::format("resistive.gain=[{}]", kGain), "relaxation.solver=coordinate",
             fmt::format("relaxation.free_steps={}", kSweeps), fmt::format("relaxation.nudged_steps={}", kSweeps),
             "train.optimizer=sgd", "train.momentum=0", fmt::format("train.learning_rate={}", kRate),
             "train.schedule=constant", "train.gradient_clip=0", fmt::format("train.batch={}", batch),
             fmt::format("data.side_by_side={}", batch), "threads=1"})),
        trainee(config, network_plan(config, {batch, 0, widths.back(), widths[0] / 2, 0, {widths[0] / 2}}), "",
                Weights::configured) {
    Batch samples{batch, 1, {}, {}, uniform(batch, widths[0] / 2, 20), {}};
    for (Index b = 0; b < batch; ++b) samples.targets.push_back(static_cast<int>(b % widths.back()));
    data = side_by_side(samples, batch);
  }
  void run() { trainee.step(number++, data); }
};

/// Floor: every product of the step once, in the order of the step, by the fastest library, and nothing else. These are
/// the drive of the sources, a product per neighbour and sweep of three phases, and the outer products of the update.
class Floor {
 public:
  Floor(const std::vector<Index>& widths, Index batch) : widths_(widths) {
    for (std::size_t l = 0; l < widths.size(); ++l) {
      v_.push_back(uniform(batch, widths[l], static_cast<std::uint32_t>(30 + l)));
      if (l > 0) g_.push_back(uniform(widths[l - 1], widths[l], static_cast<std::uint32_t>(40 + l)));
    }
  }
  void run() {
    fastest_multiply(v_[0], g_[0], v_[1]);
    for (int i = 0; i < 3 * kSweeps; ++i) {
      for (std::size_t l = 1; l < v_.size(); ++l) {
        if (l > 1) fastest_multiply(v_[l - 1], g_[l - 1], v_[l]);
        if (l + 1 < v_.size()) fastest_transposed(v_[l + 1], g_[l], v_[l]);
      }
    }
    for (std::size_t l = 0; l < g_.size(); ++l) {
      fastest_outer(v_[l], v_[l + 1], 1e-9F, g_[l], Store::add);
      if (l > 0) fastest_outer(v_[l], v_[l + 1], 1e-9F, g_[l], Store::add);
    }
  }

 private:
  std::vector<Index> widths_;
  std::vector<Matrix<float>> v_, g_;
};

void train(benchmark::State& state, const std::vector<Index>& widths, Index batch) {
  Step step(widths, batch);
  const Matrix<float> before = step.trainee.network().map(0).weights();
  step.run();
  const Matrix<float>& after = step.trainee.network().map(0).weights();
  if (after == before || !after.allFinite()) {  // a step that is not finite is rolled back
    state.SkipWithError("the network did not learn");
    return;
  }
  Floor floor(widths, batch);
  floor.run();
  std::vector<double> times, ratios;
  for (auto _ : state) {
    const double alone = seconds_of([&] { floor.run(); });
    times.push_back(seconds_of([&] { step.run(); }));
    ratios.push_back(times.back() / alone);
    state.SetIterationTime(times.back());
  }
  const auto samples = static_cast<double>(batch);
  state.counters["us_per_sample"] = 1e6 * median(times) / samples;
  state.counters["fastest"] = 1e6 * *std::min_element(times.begin(), times.end()) / samples;
  state.counters["epoch_s"] = kEpoch * median(times) / samples;
  state.counters["ratio"] = median(ratios);
  state.SetLabel(fastest_libraries());
}

}  // namespace
}  // namespace nudge::bench

int main(int argc, char** argv) {
  using namespace nudge::bench;
  const std::vector<std::pair<std::string, std::vector<nudge::Index>>> networks = {
      {"1568-100-10", {1568, 100, 10}}, {"1568-1024-10", {1568, 1024, 10}}, {"128-100-10", {128, 100, 10}}};
  for (const auto& [name, widths] : networks) {
    for (const nudge::Index batch : {4, 64}) {
      add("train/" + name + "/B" + std::to_string(batch), 501,
          [layers = widths, batch](benchmark::State& s) { train(s, layers, batch); });
    }
  }
  return run_added(argc, argv);
}
