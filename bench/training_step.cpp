// SPDX-License-Identifier: Apache-2.0
// One training step (gradient of a batch) against its GEMM floor in the same run; see bench/README.md.
#include <fmt/format.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "bench/fastest_product.hpp"
#include "bench/measure.hpp"
#include "circuits/digital_matrix.hpp"
#include "sim/base/parallel.hpp"
#include "training/batch/batch_gradient.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge::bench {
namespace {

Matrix<float> filled(Index rows, Index cols) { return Matrix<float>::Random(rows, cols) * 0.1F; }

/// Products of one training step and nothing else: the time of a perfect implementation that does every product as the
/// formulas are written. Per token, with t = T (dense attention):
///     F = 4CM + 8C² + 4tC,  jvp = vjp = 8C² + 8tC,  dC/dz = 4CV,  G = 8CM + 24C² + 12tC + 2CV
///     step = B·T·[T1·F + 2·T2·(F + jvp + vjp + dC/dz) + G]
/// in the shapes of one sequence (the two nudged states side by side), one sequence after the other on each thread.
/// Every product is done by the library that is fastest for its shape on this machine (fastest_product.hpp). Products
/// that the simulator merges or drops are included, so they show as a ratio below one.
class ProductFloor {
 public:
  explicit ProductFloor(const ModelShape& s)
      : shape_(s),
        z_(filled(2 * s.tokens, s.channels)),
        projections_(filled(2 * s.tokens, 3 * s.channels)),
        memory_(filled(2 * s.tokens, s.memories)),
        mixed_(filled(2 * s.tokens, s.channels)),
        output_(filled(2 * s.tokens, s.channels)),
        logits_(filled(2 * s.tokens, s.vocabulary)),
        scores_(filled(s.tokens, s.tokens)),
        w_qkv_(filled(s.channels, 3 * s.channels)),
        w_m_(filled(s.channels, s.memories)),
        w_o_(filled(s.channels, s.channels)),
        w_h_(filled(s.channels, s.vocabulary)),
        g_qkv_(w_qkv_),
        g_m_(w_m_),
        g_o_(w_o_),
        g_h_(w_h_) {}

  void force(Index copies) {
    const Index rows = copies * shape_.tokens;
    const Index width = shape_.channels / shape_.heads;
    fastest_multiply(z_.topRows(rows), w_qkv_, projections_.topRows(rows));
    fastest_multiply(z_.topRows(rows), w_m_, memory_.topRows(rows));
    for (Index row = 0; row < rows; row += shape_.tokens) {
      const auto h = projections_.middleRows(row, shape_.tokens);
      for (Index at = 0; at < shape_.channels; at += width) {
        fastest_transposed(h.middleCols(at, width), h.middleCols(shape_.channels + at, width), scores_);
        fastest_multiply(scores_, h.middleCols(2 * shape_.channels + at, width),
                         mixed_.middleRows(row, shape_.tokens).middleCols(at, width));
      }
    }
    fastest_multiply(mixed_.topRows(rows), w_o_, output_.topRows(rows));
    fastest_transposed(memory_.topRows(rows), w_m_, output_.topRows(rows), Store::add);
  }
  void jvp(Index copies) {
    const Index rows = copies * shape_.tokens;
    const Index width = shape_.channels / shape_.heads;
    fastest_multiply(z_.topRows(rows), w_qkv_, projections_.topRows(rows));
    for (Index row = 0; row < rows; row += shape_.tokens) {
      const auto h = projections_.middleRows(row, shape_.tokens);
      for (Index at = 0; at < shape_.channels; at += width) {
        const auto q = h.middleCols(at, width);
        const auto k = h.middleCols(shape_.channels + at, width);
        const auto v = h.middleCols(2 * shape_.channels + at, width);
        auto o = mixed_.middleRows(row, shape_.tokens).middleCols(at, width);
        fastest_transposed(q, k, scores_);
        fastest_transposed(k, q, scores_, Store::add);
        fastest_multiply(scores_, v, o);
        fastest_multiply(scores_, v, o, Store::add);
      }
    }
    fastest_multiply(mixed_.topRows(rows), w_o_, output_.topRows(rows));
  }
  void vjp(Index copies) {
    const Index rows = copies * shape_.tokens;
    const Index width = shape_.channels / shape_.heads;
    fastest_transposed(z_.topRows(rows), w_o_, mixed_.topRows(rows));
    for (Index row = 0; row < rows; row += shape_.tokens) {
      auto h = projections_.middleRows(row, shape_.tokens);
      for (Index at = 0; at < shape_.channels; at += width) {
        const auto w = mixed_.middleRows(row, shape_.tokens).middleCols(at, width);
        auto q = h.middleCols(at, width);
        auto k = h.middleCols(shape_.channels + at, width);
        auto v = h.middleCols(2 * shape_.channels + at, width);
        fastest_transposed(w, v, scores_);
        fastest_outer(scores_, w, 1.0F, v, Store::assign);
        fastest_multiply(scores_, w, q);
        fastest_outer(scores_, w, 1.0F, k, Store::assign);
      }
    }
    fastest_transposed(projections_.topRows(rows), w_qkv_, output_.topRows(rows));
  }
  void cost(Index copies) {
    const Index rows = copies * shape_.tokens;
    fastest_multiply(z_.topRows(rows), w_h_, logits_.topRows(rows));
    fastest_transposed(logits_.topRows(rows), w_h_, output_.topRows(rows));
  }
  void gradient() {
    const Index rows = shape_.tokens;
    force(1);
    vjp(1);
    fastest_outer(z_.topRows(rows), projections_.topRows(rows), 1.0F, g_qkv_, Store::assign);
    fastest_outer(z_.topRows(rows), memory_.topRows(rows), 1.0F, g_m_, Store::assign);
    fastest_outer(output_.topRows(rows), memory_.topRows(rows), 1.0F, g_m_, Store::assign);
    fastest_outer(z_.topRows(rows), mixed_.topRows(rows), 1.0F, g_o_, Store::assign);
    fastest_outer(z_.topRows(rows), logits_.topRows(rows), 1.0F, g_h_, Store::assign);
  }

 private:
  ModelShape shape_;
  Matrix<float> z_, projections_, memory_, mixed_, output_, logits_, scores_;
  Matrix<float> w_qkv_, w_m_, w_o_, w_h_, g_qkv_, g_m_, g_o_, g_h_;
};

/// Floating point operations of the step by the formula of ProductFloor.
double step_flops(const ModelShape& s, Index sequences, int free_steps, int nudged_steps) {
  const double c = static_cast<double>(s.channels);
  const double m = static_cast<double>(s.memories);
  const double t = static_cast<double>(s.tokens);
  const double v = static_cast<double>(s.vocabulary);
  const double force = 4 * c * m + 8 * c * c + 4 * t * c;
  const double probe = 8 * c * c + 8 * t * c;
  const double gradient = 8 * c * m + 24 * c * c + 12 * t * c + 2 * c * v;
  return static_cast<double>(sequences) * t *
         (free_steps * force + 2.0 * nudged_steps * (force + 2 * probe + 4 * c * v) + gradient);
}

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
  const auto step = [&] {
    if (!c.estimator.empty()) {
      benchmark::DoNotOptimize(learner.compute(batch, 0, gradient).loss);
    } else {
      benchmark::DoNotOptimize(learner.evaluate(batch, 0).loss);
    }
  };
  const std::vector<double> floor_times = run_beside(
      state, [&] { run_floor(c, floors); }, step);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
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
    nudge::bench::add(c.name(), 7, [&c](benchmark::State& state) { nudge::bench::run(state, c); });
  }
  return nudge::bench::run_added(argc, argv);
}
