// SPDX-License-Identifier: Apache-2.0
// Sequence mixers: a training step and a read against their GEMM floors in the same run, and how the O(T) priors scale; see
// bench/README.md.
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "bench/fastest_product.hpp"
#include "bench/measure.hpp"
#include "mixers/fem/free_energy_mixer.hpp"
#include "mixers/mixer.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/reads.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/rng.hpp"
#include "training/models/tapes/sequence_model.hpp"
#include "training/train/tape_run.hpp"

namespace nudge::bench {
namespace {

Matrix<float> filled(Index rows, Index cols) { return Matrix<float>::Random(rows, cols) * 0.1F; }

/// Products of one sequence through a sequence model and back, and nothing else. For every weight W (in, out) of a
/// product with the T tokens y = x W, dx = dy Wᵀ, dW += xᵀ dy. For every head the scores q kᵀ and the read P v (dense,
/// also where a causal mask leaves half of them unused), each with both products of its derivative. Every product is
/// done by the library that is fastest for its shape on this machine (fastest_product.hpp). Floating point operations:
///     6·T·Σ in·out + 6·blocks·heads·T²·(key width + read width)
class MixerFloor {
 public:
  explicit MixerFloor(const SequenceShape& s) {
    for (const Field& field : sequence_fields(s)) {
      const bool looked_up = field.name == "emb";
      if (looked_up || field.rows() == 1) continue;
      // Attention's weights are (heads·m, D), used transposed: the same products.
      const bool transposed = field.shape.size() == 3;
      const Index in = transposed ? s.width : field.rows();
      const Index out = field.rows() * field.cols() / in;
      weights_.push_back({filled(s.tokens, in), filled(in, out), filled(s.tokens, out), filled(in, out)});
    }
    const MixerOptions options = sequence_mixer(s.mixer, s.width, s.heads, s.tokens).options;
    const bool free_energy = s.mixer.rfind("fem", 0) == 0;
    const Index keys = (free_energy ? options.of<FreeEnergyOptions>().keys : s.width) / s.heads;
    const Index values = free_energy ? 2 * options.of<FreeEnergyOptions>().values / s.heads : s.width / s.heads;
    reads_ = s.blocks * s.heads;
    read_ = {filled(s.tokens, keys), filled(s.tokens, keys), filled(s.tokens, values), filled(s.tokens, s.tokens),
             filled(s.tokens, values)};
  }

  void run() {
    for (Weight& each : weights_) {
      token_products(each);
      for (Matrix<float>* m : {&each.x, &each.y}) m->setConstant(0.1F);  // numbers stay where products are fast
    }
    for (Index n = 0; n < reads_; ++n) {
      read_products(read_);
      for (Matrix<float>* m : {&read_.q, &read_.k, &read_.v}) m->setConstant(0.1F);
    }
  }
  double flops() const {
    double sum = 0;
    for (const Weight& each : weights_) {
      sum += 6.0 * static_cast<double>(each.x.rows()) * static_cast<double>(each.w.size());
    }
    const double pairs = static_cast<double>(read_.p.size()) * static_cast<double>(reads_);
    return sum + 6.0 * pairs * static_cast<double>(read_.k.cols() + read_.v.cols());
  }

 private:
  struct Weight {
    Matrix<float> x, w, y, g;
  };
  struct Read {
    Matrix<float> q, k, v, p, o;
  };
  void token_products(Weight& each) {
    fastest_multiply(each.x, each.w, each.y);
    fastest_transposed(each.y, each.w, each.x);
    fastest_outer(each.x, each.y, 1e-6F, each.g, Store::assign);
  }
  void read_products(Read& r) {
    fastest_transposed(r.q, r.k, r.p);
    fastest_multiply(r.p, r.v, r.o);
    fastest_transposed(r.o, r.v, r.p);
    fastest_outer(r.p, r.o, 1e-6F, r.v, Store::assign);
    fastest_multiply(r.p, r.k, r.q);
    fastest_outer(r.p, r.q, 1e-6F, r.k, Store::assign);
  }

  Index reads_ = 0;
  std::vector<Weight> weights_;
  Read read_;
};

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

void report(benchmark::State& state, const std::vector<double>& floors, double flops) {
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
  const std::vector<double> times = run_beside(state, floor, step);
  report(state, times, floors[0].flops() * static_cast<double>(batch.sequences));
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
  state.counters["floor_ms"] = 1e3 * median(times);
  state.counters["ratio"] = median(ratios);
  report(state, times, 12.0 * static_cast<double>(tokens * tokens * m));
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
  return run_added(argc, argv);
}
