// SPDX-License-Identifier: Apache-2.0
// One training step (gradient of a batch) against its GEMM floor in the same run; see bench/README.md.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bench/fastest_product.hpp"
#include "bench/product_floor.hpp"
#include "circuits/digital_matrix.hpp"
#include "sim/base/parallel.hpp"
#include "training/batch/batch_gradient.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge::bench {
namespace {

struct Case {
  std::string estimator;  // empty: the free phase alone
  ModelShape shape;
  Index sequences;
  int steps;  // T1 = T2
  int threads;

  std::string name() const {
    return fmt::format("{}/B{}_T{}_C{}_M{}/threads{}", estimator.empty() ? "free_phase" : estimator, sequences,
                       shape.tokens, shape.channels, shape.memories, threads);
  }
};

const std::vector<Case>& cases() {
  static const ModelShape large{65, 64, 128, 512, 4};
  static const ModelShape small{65, 32, 64, 256, 4};
  static const std::vector<Case> list = [] {
    std::vector<Case> made;
    for (const int threads : thread_counts()) {
      for (const std::string estimator : {"", "aep", "aep_transposed", "linear_adjoint", "bptt"})
        made.push_back({estimator, large, 32, 30, threads});
    }
    made.push_back({"aep_anchored", large, 32, 30, 2});
    made.push_back({"aep_anchored", small, 16, 24, 2});
    return made;
  }();
  return list;
}

Batch random_batch(const ModelShape& shape, Index sequences) {
  std::vector<int> text(4096);
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<int>(i * 7919 % static_cast<std::size_t>(shape.vocabulary));
  return training_batch(text, sequences, shape.tokens, 1, 0);
}

std::unique_ptr<Network<float>> make_model(const ModelShape& shape) {
  Maps<float> maps;
  for (auto& w : initial_weights<float>(shape, {}, 1))
    maps.push_back(std::make_unique<DigitalMatrix<float>>(std::move(w)));
  return block_network<float>(shape, {1.0, 1.0}, std::move(maps));
}

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Times the products of the AEP step as the note's formula counts them (bptt and others are compared with the same
/// floor).
void run_floor(const Case& c, std::vector<ProductFloor>& floors) {
  parallel_for(c.sequences, c.threads, [&](Index, int thread) {
    ProductFloor& floor = floors[static_cast<std::size_t>(thread)];
    for (int n = 0; n < c.steps; ++n) floor.force(1);
    if (c.estimator.empty()) return;
    for (int n = 0; n < c.steps; ++n) {
      floor.force(2);
      floor.jvp(2);
      floor.vjp(2);
      floor.cost(2);
    }
    floor.gradient();
  });
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run(benchmark::State& state, const Case& c) {
  const auto model = make_model(c.shape);
  BatchGradientOptions options;
  options.estimator = c.estimator.empty() ? "aep" : c.estimator;
  options.threads = c.threads;
  options.phases.free.max_steps = options.phases.nudged_steps = c.steps;
  options.phases.free.final_residual = false;
  options.phases.free.step = options.phases.step = 0.35;
  options.phases.beta = default_beta<float>(options.estimator);
  BatchGradient<float> learner(*model, options);
  const Batch batch = random_batch(c.shape, c.sequences);
  Gradient<float> gradient(model->parameter_shapes());
  std::vector<ProductFloor> floors(static_cast<std::size_t>(c.threads), ProductFloor(c.shape));
  run_floor(c, floors);
  std::vector<double> floor_times;
  std::vector<double> ratios;
  for (auto _ : state) {
    const double floor = seconds_of([&] { run_floor(c, floors); });
    const double step = seconds_of([&] {
      if (!c.estimator.empty()) {
        benchmark::DoNotOptimize(learner.compute(batch, 0, gradient).loss);
      } else {
        benchmark::DoNotOptimize(learner.evaluate(batch, 0).loss);
      }
    });
    state.SetIterationTime(step);
    floor_times.push_back(floor);
    ratios.push_back(step / floor);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["floor_ms"] = 1e3 * median(floor_times);
  state.counters["ratio"] = median(ratios);
  state.counters["floor_GFLOPs"] =
      1e-9 * (c.estimator.empty() ? 0 : step_flops(c.shape, c.sequences, c.steps, c.steps) / median(floor_times));
  state.counters["peak_GFLOPs"] = c.threads * peak_gflops();
  state.SetLabel("floor: " + fastest_libraries());
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace
}  // namespace nudge::bench

int main(int argc, char** argv) {
  for (const auto& c : nudge::bench::cases()) {
    benchmark::RegisterBenchmark(c.name().c_str(), [&c](benchmark::State& state) { nudge::bench::run(state, c); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(7);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
