// SPDX-License-Identifier: Apache-2.0
// Stochastic coincidence updates of a 512 x 512 array, per device and sample; see bench/README.md.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "devices/pulse_train.hpp"
#include "sim/base/rng.hpp"

namespace nudge::bench {
namespace {

constexpr Index kSize = 512;
// Pulses for a product of 1: with x and y uniform in (−1, 1), |x y| = 1/4 on average, 2.5 pulses per device and sample.
constexpr double kPulses = 10;

/// Makes rows of numbers drawn from [-1, 1).
Matrix<float> drawn(Index rows, std::uint32_t entity) {
  return (2.0F * uniform(rows, kSize, entity).array() - 1.0F).matrix();
}

void report(benchmark::State& state, const std::vector<double>& times, double devices, Index batch) {
  const double per = 1e9 / (devices * static_cast<double>(batch));
  state.counters["ns_per_device_sample"] = per * median(times);
  state.counters["fastest"] = per * *std::min_element(times.begin(), times.end());
}

/// Times one batch by crossbar.update = coincidence: trains, counts, pulses of every device with noise, effective
/// matrix.
void update(benchmark::State& state, const char* model, MappingKind mapping, Index batch, int threads) {
  CrossbarSpec spec;
  spec.device.model = model;
  spec.device.update_noise = 0.3;
  spec.device.step_spread = 0.3;
  spec.mapping.w_max = 1;
  spec.mapping.kind = mapping;
  spec.programming.update = UpdateScheme::coincidence;
  spec.threads = threads;
  const Matrix<float> start = 0.3F * drawn(kSize, 0);
  Crossbar<float> array(spec, start, 0, 1);
  const std::vector<FactorPair<float>> factors = {{{0, kSize}, 1.0F, drawn(batch, 1), drawn(batch, 2)}};
  const auto pulse = 2.0F * array.w_max() / static_cast<float>(spec.device.pulses);
  const double devices = (mapping == MappingKind::differential ? 2.0 : 1.0) * kSize * kSize;
  const PulseCount before = array.pulses();
  std::vector<double> times;
  for (auto _ : state) {
    array.program(start);
    times.push_back(seconds_of([&] { array.apply_factors(factors, static_cast<float>(kPulses) * pulse); }));
    state.SetIterationTime(times.back());
  }
  const PulseCount after = array.pulses();
  state.counters["pulses_per_device_sample"] =
      static_cast<double>(after.up + after.down - before.up - before.down) /
      (devices * static_cast<double>(batch) * static_cast<double>(times.size()));
  report(state, times, devices, batch);
}

/// Times the trains and their counts alone.
void count(benchmark::State& state, Index batch, int threads) {
  const Matrix<float> x = drawn(batch, 1);
  const Matrix<float> y = drawn(batch, 2);
  Matrix<float> up = Matrix<float>::Zero(kSize, kSize);
  Matrix<float> down = up;
  std::vector<double> times;
  for (auto _ : state) {
    times.push_back(seconds_of([&] {
      count_coincidences<float>(x, y, kPulses, 31, {1, 0, times.size(), 0}, threads, up, down);
    }));
    state.SetIterationTime(times.back());
  }
  report(state, times, static_cast<double>(kSize * kSize), batch);
}

}  // namespace
}  // namespace nudge::bench

int main(int argc, char** argv) {
  using namespace nudge::bench;
  using nudge::MappingKind;
  for (const int threads : {1, 2}) {
    for (const nudge::Index batch : {64, 256}) {
      const std::string at = "/512x512/B" + std::to_string(batch) + "/threads" + std::to_string(threads);
      add("count" + at, 15, [=](benchmark::State& s) { count(s, batch, threads); });
      for (const char* model : {"constant_step", "soft_bounds", "exponential_step"}) {
        add(std::string("single/") + model + at, 15,
            [=](benchmark::State& s) { update(s, model, MappingKind::offset, batch, threads); });
      }
      add("pair/soft_bounds" + at, 15,
          [=](benchmark::State& s) { update(s, "soft_bounds", MappingKind::differential, batch, threads); });
    }
  }
  return run_added(argc, argv);
}
