// SPDX-License-Identifier: Apache-2.0
// Every library of products at the shapes of the simulator, beside the machine's peak in the same run; see bench/README.md.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bench/fastest_product.hpp"
#include "bench/measure.hpp"

namespace nudge::bench {
namespace {

/// Shape of op(A) (n, k) times op(B) (k, m); the matrices lie in rows of a_ld, b_ld and c_ld numbers, as in the
/// simulator.
struct Shape {
  const char* what;
  bool a_transposed, b_transposed;
  Index n, k, m, a_ld, b_ld, c_ld;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list = {
      {"projections", false, false, 64, 128, 384, 128, 384, 384},
      {"memory", false, false, 64, 128, 512, 128, 512, 512},
      {"memory_back", false, true, 64, 512, 128, 512, 512, 128},
      {"memory_two_sides", false, false, 128, 128, 512, 128, 512, 512},
      {"memory_gradient", true, false, 128, 64, 512, 128, 512, 512},
      {"head_scores", false, true, 64, 32, 64, 384, 384, 64},
      {"head_read", false, false, 64, 64, 32, 64, 384, 128},
      {"head_back", true, false, 64, 64, 32, 64, 128, 384},
      {"readout", false, false, 64, 128, 65, 128, 65, 65},
      {"batch", false, false, 2048, 128, 512, 128, 512, 512},
      {"batch_back", false, true, 2048, 512, 128, 512, 512, 128},
      {"array_64", false, false, 64, 512, 512, 512, 512, 512},
      {"array_256", false, false, 256, 512, 512, 512, 512, 512},
      {"one_row", false, false, 1, 512, 512, 512, 512, 512},
      {"two_rows", false, false, 2, 128, 512, 128, 512, 512},
      {"cube_16", false, false, 16, 16, 16, 16, 16, 16},
      {"cube_24", false, false, 24, 24, 24, 24, 24, 24},
      {"cube_32", false, false, 32, 32, 32, 32, 32, 32},
  };
  return list;
}

/// Times the libraries in turn, the fastest of rounds of some 0.2 ms each; time: of the library that the simulator uses
/// for the shape.
void run(benchmark::State& state, const Shape& s) {
  const auto numbers = [](Index rows, Index ld) { return Matrix<float>(0.1F * Matrix<float>::Random(rows, ld)); };
  const Matrix<float> a = numbers(s.a_transposed ? s.k : s.n, s.a_ld), b = numbers(s.b_transposed ? s.m : s.k, s.b_ld);
  Matrix<float> c = numbers(s.n, s.c_ld);
  const detail::FloatProduct p{s.a_transposed, s.b_transposed, s.n,    s.m,  s.k,      1.0F,  a.data(),
                               s.a_ld,         b.data(),       s.b_ld, 0.0F, c.data(), s.c_ld};
  const double operations = 2.0 * static_cast<double>(s.n * s.m * s.k);
  const int repeats = std::max(1, static_cast<int>(2e7 / operations));
  const auto& libraries = product_libraries();
  const std::size_t used = detail::library_forms(p) ? libraries.size() - 1 : 0;
  std::vector<std::vector<double>> speeds(libraries.size());
  for (auto _ : state) {
    for (std::size_t i = 0; i < libraries.size(); ++i) {
      libraries[i].form(p);
      const auto start = std::chrono::steady_clock::now();
      for (int n = 0; n < repeats; ++n) libraries[i].form(p);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      speeds[i].push_back(1e-9 * operations * repeats / taken.count());
      if (i == used) state.SetIterationTime(taken.count() / repeats);
    }
  }
  std::string label = fmt::format("{} of", libraries[used].name.substr(0, libraries[used].name.find(' ')));
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    const std::string name = libraries[i].name.substr(0, libraries[i].name.find(' '));
    state.counters[name + "_GFLOPs"] = *std::max_element(speeds[i].begin(), speeds[i].end());
    label += fmt::format("{} {}", i > 0 ? "," : "", libraries[i].name);
  }
  state.counters["peak_GFLOPs"] = peak_gflops();
  state.SetLabel(label);
}

}  // namespace
}  // namespace nudge::bench

int main(int argc, char** argv) {
  for (const auto& s : nudge::bench::shapes()) {
    const std::string kind = s.a_transposed ? "T" : s.b_transposed ? "NT" : "N";
    benchmark::RegisterBenchmark(fmt::format("product/{}/{}x{}x{}{}", s.what, s.n, s.k, s.m, kind).c_str(),
                                 [&s](benchmark::State& state) { nudge::bench::run(state, s); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(201);
  }
  return nudge::bench::run_added(argc, argv);
}
