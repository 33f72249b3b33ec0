// SPDX-License-Identifier: Apache-2.0
// Reads of a convolution, forward and transposed, beside oneDNN's own of the same function and beside its products alone; see bench/README.md.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bench/convolution_floor.hpp"
#include "bench/fastest_product.hpp"
#include "circuits/digital_matrix.hpp"
#include "circuits/terms/bilinear_link.hpp"

namespace nudge::bench {
namespace {

constexpr int kReads = 20;  // to a measurement

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kReads; ++i) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Times both reads, as a sweep of an energy network makes them; ratios above 1: slower than the floor.
void reads(benchmark::State& state, const Convolution& shape, Index samples) {
  const DigitalMatrix<float> kernels(Matrix<float>::Random(shape.patch(), shape.maps) * 0.1F);
  LinkReader<float> link({0, &kernels, shape});
  const Matrix<float> x = Matrix<float>::Random(samples, shape.inputs());
  Matrix<float> u(samples, shape.outputs()), back(samples, shape.inputs());
  const auto ours = [&] {
    ReadContext context;
    link.read(ReadDirection::forward, x, u, context, Store::assign);
    link.read(ReadDirection::transposed, u, back, context, Store::assign);
    u *= 1e-2F;  // or it would grow
  };
  const Matrix<float> w = kernels.weights();
  Matrix<float> patches = Matrix<float>::Random(samples * shape.positions(), shape.patch()),
                at_positions(samples * shape.positions(), shape.maps);
  const auto products = [&] {
    fastest_multiply(patches, w, at_positions);
    fastest_transposed(at_positions, w, patches);
    at_positions *= 1e-2F;
  };
  ConvolutionFloor pooled(shape, samples, false), folded(shape, samples, true);
  const auto by = [](ConvolutionFloor& floor) {
    return [&floor] {
      floor.forward();
      floor.transposed();
    };
  };
  const auto once = [&] {
    return std::vector<double>{seconds_of(ours), seconds_of(products), seconds_of(by(pooled)), seconds_of(by(folded))};
  };
  once();
  std::vector<double> of_products, of_pooled, of_folded;
  for (auto _ : state) {
    const std::vector<double> s = once();
    state.SetIterationTime(s[0]);
    of_products.push_back(s[0] / s[1]);
    of_pooled.push_back(s[0] / s[2]);
    of_folded.push_back(s[0] / s[3]);
  }
  state.counters["to_products"] = median(of_products);
  if (!ConvolutionFloor::available()) return state.SetLabel("floor: " + fastest_libraries());
  state.counters["to_onednn_pooled"] = median(of_pooled);
  state.counters["to_onednn_folded"] = median(of_folded);
  state.SetLabel("floors: products by " + fastest_libraries() + "; convolutions by oneDNN");
}

}  // namespace
}  // namespace nudge::bench

int main(int argc, char** argv) {
  using namespace nudge::bench;
  for (const nudge::Index samples : {16, 64}) {
    for (const nudge::Convolution& s : {nudge::Convolution{1, 28, 28, 16, 3, 2},
                                        {16, 14, 14, 32, 3, 2},
                                        {32, 14, 14, 64, 3, 1},
                                        {16, 28, 28, 32, 5, 2}}) {
      const std::string name = "read/" + std::to_string(s.channels) + "x" + std::to_string(s.height) + "x" +
                               std::to_string(s.width) + "_to_" + std::to_string(s.maps) + "/kernel" +
                               std::to_string(s.kernel) + "/pool" + std::to_string(s.pool) + "/B" +
                               std::to_string(samples);
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { reads(state, s, samples); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(41);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
