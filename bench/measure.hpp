// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/base/rng.hpp"

// What the benchmarks share; each includes it once.
namespace nudge::bench {

/// Times a piece of work, in seconds.
double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Makes a matrix of numbers drawn from [0, 1).
inline Matrix<float> uniform(Index rows, Index cols, std::uint32_t entity) {
  Matrix<float> x(rows, cols);
  fill_uniform<float>({1, Purpose::probe, entity}, 0, 0, {x.data(), static_cast<std::size_t>(x.size())});
  return x;
}

/// Makes a matrix of standard normal numbers.
inline Matrix<float> normal(Index rows, Index cols, std::uint32_t entity) {
  Matrix<float> x(rows, cols);
  fill_normal<float>({1, Purpose::probe, entity}, 0, 0, {x.data(), static_cast<std::size_t>(x.size())});
  return x;
}

/// Times a floor and the work in turn, for the time of the iterations and the counters floor_ms and ratio (medians).
/// Returns the seconds of the floor.
std::vector<double> run_beside(benchmark::State& state, const auto& floor, const auto& work) {
  std::vector<double> floors, ratios;
  for (auto _ : state) {
    floors.push_back(seconds_of(floor));
    const double taken = seconds_of(work);
    state.SetIterationTime(taken);
    ratios.push_back(taken / floors.back());
  }
  state.counters["floor_ms"] = 1e3 * median(floors);
  state.counters["ratio"] = median(ratios);
  return floors;
}

/// Adds a benchmark that sets the time of each of its iterations itself.
inline void add(const std::string& name, int iterations, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(iterations);
}

/// Runs the benchmarks that were added, as the command line asks; returns the exit code.
inline int run_added(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace nudge::bench
