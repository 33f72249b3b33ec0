// SPDX-License-Identifier: Apache-2.0
// Sequence mixers: a training step and a read against their GEMM floors in the same run, and how the O(T) priors scale; see
// bench/README.md.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "bench/fastest_product.hpp"
#include "bench/mixer_floor.hpp"
#include "mixers/fem/free_energy_mixer.hpp"
#include "mixers/mixer.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/reads.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/rng.hpp"
#include "training/models/tapes/sequence_model.hpp"
#include "training/train/tape_learner.hpp"

namespace nudge::bench {
namespace {

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Makes 32 sequences of 64 characters of 65 kinds.
Batch random_text() {
  Batch batch{32, 64, {}, {}};
  for (int n = 0; n < 32; ++n) {
    for (int t = 0; t < 64; ++t) {
      batch.indices.push_back((t * 7919 + n * 104729) % 65);
      batch.targets.push_back((t * 7919 + 7919 + n * 104729) % 65);
    }
  }
  return batch;
}

void report(benchmark::State& state, const std::vector<double>& floors, const std::vector<double>& ratios,
            double flops) {
  state.counters["floor_ms"] = 1e3 * median(floors);
  state.counters["ratio"] = median(ratios);
  state.counters["floor_GFLOPs"] = 1e-9 * flops / median(floors);
  state.counters["peak_GFLOPs"] = peak_gflops();
  state.SetLabel("floor: " + fastest_libraries());
}

/// Times the gradient of 32 sequences of 64 characters and the AdamW step, in float, as examples/characters.toml.
void training_step(benchmark::State& state, const char* mixer, int threads) {
  SequenceShape shape;
  shape.mixer = mixer;
  const auto model = sequence_tape_model<float>(shape);
  const std::vector<Field> fields = model->fields();
  auto parameters = initial_parameters<float>(fields, 1);
  std::vector<ParameterShape> shapes;
  for (const Field& field : fields) shapes.push_back({field.rows(), field.cols()});
  const auto adam = make_optimizer<float>("adam", {}, shapes);
  TapeBatch<float> tapes([&] { return model->record(parameters); }, fields, threads);
  Gradient<float> gradient(shapes);
  std::vector<Matrix<float>> delta;
  const Batch batch = random_text();
  const auto step = [&] {
    benchmark::DoNotOptimize(tapes.gradient(batch, 0, gradient));
    adam->step(gradient.matrices(), 1e-3, delta);
    add_with_decay<float>(delta, 1e-4, parameters);
  };
  std::vector<MixerFloor> floors(static_cast<std::size_t>(threads), MixerFloor(shape));
  const auto floor = [&] {
    parallel_for(batch.sequences, threads, [&](Index, int thread) { floors[static_cast<std::size_t>(thread)].run(); });
  };
  step();
  floor();
  std::vector<double> times, ratios;
  for (auto _ : state) {
    times.push_back(seconds_of(floor));
    const double taken = seconds_of(step);
    state.SetIterationTime(taken);
    ratios.push_back(taken / times.back());
  }
  report(state, times, ratios, floors[0].flops() * static_cast<double>(batch.sequences));
}

Matrix<float> normal(Index rows, Index cols, std::uint32_t which) {
  Matrix<float> m(rows, cols);
  fill_normal<float>({1, Purpose::probe, which}, 0, 0, std::span<float>(m.data(), static_cast<std::size_t>(m.size())));
  return m;
}

/// Times one head's causal read and its derivative at queries, keys (T, 32); values (T, 32), or (T, 16) read as [μ |
/// F].
void one_read(benchmark::State& state, bool free_energy, Index tokens) {
  constexpr Index m = 32;
  Tape<float> tape;
  const Mask mask = Mask::causal(tokens);
  const auto q = tape.input(normal(tokens, m, 1));
  const auto k = tape.input(normal(tokens, m, 2));
  const auto v = tape.input(normal(tokens, free_energy ? m / 2 : m, 3));
  const auto scores = affine(product_nt(q, k), 1.0 / std::sqrt(static_cast<double>(m)));
  const auto y = free_energy ? free_energy_read(scores, v, tape.input(Matrix<float>::Constant(1, m / 2, 2.0F)), mask)
                             : product(softmax(scores, mask), v);
  const Matrix<float> weight = normal(tokens, m, 4);
  Matrix<float> p(tokens, tokens), a = normal(tokens, m, 5), b = normal(tokens, m, 6), c = normal(tokens, m, 7);
  const auto floor = [&] {
    fastest_transposed(a, b, p);
    fastest_multiply(p, b, c);
    fastest_transposed(a, b, p);
    fastest_outer(p, a, 1.0F, c, Store::assign);
    fastest_multiply(p, b, c);
    fastest_outer(p, a, 1.0F, c, Store::assign);
  };
  const auto read = [&] {
    tape.run();
    tape.clear_cotangents();
    tape.add_cotangent(y, weight);
    tape.pull_back();
  };
  floor();  // measures which library is the fastest
  const int repeats = static_cast<int>(std::max<Index>(1, 1'000'000 / (tokens * tokens)));
  std::vector<double> times, ratios;
  for (auto _ : state) {
    const double floor_s = seconds_of([&] {
      for (int n = 0; n < repeats; ++n) floor();
    });
    const double read_s = seconds_of([&] {
      for (int n = 0; n < repeats; ++n) read();
    });
    state.SetIterationTime(read_s / repeats);
    times.push_back(floor_s / repeats);
    ratios.push_back(read_s / floor_s);
  }
  report(state, times, ratios, 12.0 * static_cast<double>(tokens * tokens * m));
}

/// Measures processor time, so that other programs count little.
double cpu_seconds_of(const auto& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Mixer with weights, to be evaluated on pieces of a sequence.
struct Evaluated {
  const MixerKind<float>& kind;
  MixerOptions options;
  MixerSpec spec;
  std::vector<Matrix<float>> parameters;

  explicit Evaluated(const char* name) : kind(mixer_kind<float>(name)) {
    options.width = 32;
    options.of<FreeEnergyOptions>().values = 16;
    options.heads = options.of<FreeEnergyOptions>().decays = options.of<FreeEnergyOptions>().groups = 2;
    options.of<FreeEnergyOptions>().keys = 16;
    spec = kind.spec(options);
    for (const Field& field : spec.parameters) {
      parameters.push_back(0.3F * normal(field.rows(), field.cols(), static_cast<std::uint32_t>(parameters.size())));
    }
  }
  void forward(Tape<float>& tape, const Matrix<float>& x, Streams<float>* streams) const {
    MixerCall<float> call{options, {}, {}, Mask::causal(x.rows()), streams};
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      call.parameters.add(spec.parameters[i].name, tape.parameter(parameters[i]));
    }
    call.inputs.add("x", tape.input(x));
    kind.forward(call);
  }
};

/// Bytes per token that a tape of the whole sequence holds.
double bytes_per_token(const Evaluated& mixer, Index tokens) {
  const Matrix<float> x = normal(tokens, mixer.options.width, 99);
  const auto before = mallinfo2();
  Tape<float> tape;
  mixer.forward(tape, x, nullptr);
  const auto after = mallinfo2();
  return (static_cast<double>(after.uordblks + after.hblkhd) - static_cast<double>(before.uordblks + before.hblkhd)) /
         static_cast<double>(tokens);
}

/// Times the forward pass of sequences of T = 1024 ... 65536 in pieces of 512; exponent: slope of log time over log T.
void scaling(benchmark::State& state, const char* name) {
  constexpr Index piece = 512;
  const Evaluated mixer(name);
  const Matrix<float> x = normal(piece, mixer.options.width, 99);
  const auto sequence = [&](Index tokens) {
    Streams<float> streams;
    for (Index at = 0; at < tokens; at += piece) {
      Tape<float> tape;
      mixer.forward(tape, x, &streams);
    }
  };
  for (auto _ : state) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, taken = 0;
    for (Index tokens = 1024; tokens <= 65536; tokens *= 2) {
      taken = cpu_seconds_of([&] { sequence(tokens); });
      for (int again = 0; again < 2; ++again) taken = std::min(taken, cpu_seconds_of([&] { sequence(tokens); }));
      const double log_tokens = std::log(static_cast<double>(tokens));
      n += 1;
      sx += log_tokens;
      sy += std::log(taken);
      sxx += log_tokens * log_tokens;
      sxy += log_tokens * std::log(taken);
    }
    state.SetIterationTime(taken);
    state.counters["exponent"] = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    state.counters["us_per_token"] = 1e6 * taken / 65536;
  }
  state.counters["bytes_per_token_1k"] = bytes_per_token(mixer, 1024);
  state.counters["bytes_per_token_64k"] = bytes_per_token(mixer, 65536);
}

void add(const std::string& name, int iterations, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(iterations);
}

}  // namespace
}  // namespace nudge::bench

int main(int argc, char** argv) {
  using namespace nudge::bench;
  for (const int threads : thread_counts()) {
    for (const char* mixer : {"mha", "momen", "nag", "light2nd1st", "fem_softmax_ltg", "gla", "fem_gla"}) {
      add(std::string("characters_step/") + mixer + "/threads" + std::to_string(threads), 7,
          [=](benchmark::State& state) { training_step(state, mixer, threads); });
    }
  }
  for (const int tokens : {64, 128, 256, 512}) {
    for (const bool free_energy : {false, true}) {
      add(std::string(free_energy ? "read/free_energy/T" : "read/softmax/T") + std::to_string(tokens), 9,
          [=](benchmark::State& state) { one_read(state, free_energy, tokens); });
    }
  }
  for (const char* kind : {"fem_gla", "fem_aft", "fem_lrnn", "fem_ssmlti", "fem_ssmsel"}) {
    add(std::string("scaling/") + kind, 1, [=](benchmark::State& state) { scaling(state, kind); });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
